"""Runs: which runs a campaign consists of, and how each is started, watched and checked."""
