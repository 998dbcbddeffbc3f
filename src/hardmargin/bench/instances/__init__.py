"""The instances: their names and checksums, where their samples come from, and how to download them."""
