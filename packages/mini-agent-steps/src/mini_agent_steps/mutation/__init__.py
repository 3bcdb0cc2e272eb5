"""The proof of the proof: break the source in many small ways, and see the matrix go red."""
