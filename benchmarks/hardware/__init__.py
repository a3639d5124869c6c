"""What patchmgr emits, built and run on a CUDA machine; see docs/proof.md.

`artefacts` makes what is to be carried there, `run` runs the other modules there. They need torch
and the artefacts, no patchmgr and no network.
"""
