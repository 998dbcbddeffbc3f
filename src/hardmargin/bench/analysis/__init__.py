"""Analysis of records: one form for our runs and published ones, and means, tests and profiles over them."""
