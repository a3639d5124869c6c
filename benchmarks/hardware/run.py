"""Run every proof on this machine, and write what they found.

    python -m benchmarks.hardware.run ARTEFACTS OUT

`OUT/proof.json` is written anew after each proof, with versions, commands, seconds and figures.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.hardware import machine

PROOFS = {"swa_clamp": 120, "marlin": 580, "gemm": 400, "topk": 580}
"""Seconds that each may take. The last one provokes a fault, so it comes last."""


def main() -> None:
    """Run the proofs that are named, or all."""
    artefacts, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    listed = artefacts / "artefacts.json"
    found: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": machine.facts(),
        "artefacts": json.loads(listed.read_text()) if listed.exists() else {},
    }
    for name in sys.argv[3:] or PROOFS:
        command = (sys.executable, "-m", f"benchmarks.hardware.{name}", artefacts)
        done = machine.run(command, PROOFS[name])
        answer = machine.last_json(done["out"])
        found[name] = {**done, "out": answer or done["out"][-4000:]}
        (out / "proof.json").write_text(json.dumps(found, indent=1))
        end = f"exit {done['code']} after {done['seconds']} s"
        print(f"{name}: {'skipped: ' + answer['skipped'] if 'skipped' in (answer or {}) else end}")
        if done["code"]:
            print(done["errors"][-2000:], flush=True)


if __name__ == "__main__":
    main()
