"""What the exact methods are made of: searches by the compiled core, and the proofs that they add up to."""
