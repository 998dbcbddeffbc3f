"""Tables as data, their writers, and the tables of reports."""
