"""What records say: one shape for our runs and published ones, and means, tests and profiles over them."""
