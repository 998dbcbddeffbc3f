"""The figures and their look."""
