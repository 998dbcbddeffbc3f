"""Runs: which ones make a campaign, and how each is made, watched and checked."""
