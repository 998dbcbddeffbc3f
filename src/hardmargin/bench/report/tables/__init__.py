"""Tables as data, their writers, and the tables that there are."""
