"""Runs patchmgr without audit and ledger: what they cost is the difference.

python unaudited.py ARGUMENT ...
"""

from __future__ import annotations

import sys

from patchmgr.cli import main
from patchmgr.model.audit import Ledger, Sums
from patchmgr.services.carry import Auditor


def run() -> None:
    """Answer for both, and run the program."""
    setattr(Auditor, "moves", lambda *given: {})  # noqa: B010
    setattr(Auditor, "begin", lambda *given: tuple)  # noqa: B010
    setattr(Auditor, "ledger", lambda *given: Ledger(Sums(), Sums()))  # noqa: B010
    sys.argv[0] = "patchmgr"
    main()


if __name__ == "__main__":
    run()
