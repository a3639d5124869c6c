"""Entry point of `python -m patchmgr`."""

from __future__ import annotations

from patchmgr.cli import main

if __name__ == "__main__":
    main()
