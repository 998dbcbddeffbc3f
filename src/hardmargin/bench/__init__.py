"""Campaigns over the benchmark instances of the literature, and their tables, figures and report."""
