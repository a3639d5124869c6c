"""What upstream has of a series: effect, landing, fate, proof, proposal."""
