"""FlashInfer's top-k kernels from patched wheels, with the patch and without it, against torch.

    python -m benchmarks.hardware.topk ARTEFACTS

Each wheel is unpacked and compiled by FlashInfer's own JIT. Beside it is the same wheel with
upstream's text of the files that the series changes. Both run every shape, and each of the three
kernels that the patch changes. Then the fault is provoked: `wait_ge` of both gets a delay, which a
correct barrier does not notice, and a limit, which turns a launch that hangs into a launch that
fails.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.hardware import machine

SHAPES = ((4, 262_144), (64, 131_072), (1, 1_048_576))
LAUNCHES = 200
K = 2048
DELAYED = ("flashinfer_python-0.6.13", "flashinfer_python-0.6.14")
KERNELS = ("top_k", "top_k_mask_logits", "top_k_renorm_probs")
SPIN = """    while (ld_acquire(ptr) < target_val) {
    }
"""
LATE_SPIN = """    if (blockIdx.x & 1) {
      for (int i = 0; i < 20; ++i) __nanosleep(10000);
    }
    for (int polls = 0; ld_acquire(ptr) < target_val; ++polls) {
      if (polls == 500000) __trap();
    }
"""


def prove(artefacts: Path) -> dict[str, Any]:
    """Build all sides at the same time, then run one after the other."""
    root = Path(tempfile.mkdtemp(prefix="topk-"))
    deps = root / "deps"
    for wheel in sorted((artefacts / "deps").glob("*.whl")):
        machine.unpack(wheel, deps)
    found: dict[str, Any] = {}
    sides: dict[tuple[str, str], Path] = {}
    for wheel in sorted(artefacts.glob("flashinfer_python-*.whl")):
        release = wheel.name.split("-")[1].split("+")[0]
        upstream = artefacts / "upstream" / wheel.name.split("+")[0]
        found[release], trees = _trees(wheel, root / release, upstream)
        sides |= {(release, side): tree for side, tree in trees.items()}
    with ThreadPoolExecutor(len(sides)) as pool:
        built = pool.map(lambda tree: _child(tree, deps, "build", 480), sides.values())
        for (release, side), done in zip(sides, built, strict=True):
            found[release][side] = {"build": done}
    for release, side in sorted(sides, key=lambda key: ("late" in key[1], key)):
        for step in KERNELS if "late" in side else ("run",):
            found[release][side][step] = _child(sides[release, side], deps, step, 60)
        print(json.dumps(found), flush=True)
    return found


def _trees(wheel: Path, folder: Path, upstream: Path) -> tuple[dict[str, Any], dict[str, Path]]:
    """Unpack a wheel, and make the other sides of it: upstream's text, and both with a delay.

    Where the series changes nothing of the kernels any more, there is one side.
    """
    trees = {"with": folder / "with"}
    facts: dict[str, Any] = {"wheel": wheel.name, "files": machine.unpack(wheel, trees["with"])}
    header = "flashinfer/data/include/flashinfer/topk.cuh"
    if (upstream / header).exists():
        trees["without"] = folder / "without"
        shutil.copytree(trees["with"], trees["without"])
        facts["changed"] = machine.overlay(trees["without"], upstream)
    if wheel.name.split("+")[0] in DELAYED:
        for side, tree in list(trees.items()):
            late = trees[f"{side}, late"] = folder / f"{side}-late"
            shutil.copytree(tree, late)
            _delay(late / header)
    return facts, trees


def _delay(header: Path) -> None:
    text = header.read_text()
    if text.count(SPIN) != 1:
        raise SystemExit(f"{header}: the loop of wait_ge is not as expected")
    header.write_text(text.replace(SPIN, LATE_SPIN))


def _child(side: Path, deps: Path, step: str, timeout: float) -> dict[str, Any]:
    import torch

    major, minor = torch.cuda.get_device_capability()
    arch = f"{major}.{minor}{'a' if major >= 9 else ''}"
    env = machine.with_pip_headers() | {
        "PYTHONPATH": os.pathsep.join((str(side), str(deps), os.getcwd())),
        "FLASHINFER_WORKSPACE_BASE": str(side / "jit"),
        "FLASHINFER_CUDA_ARCH_LIST": arch,
        "FLASHINFER_TOPK_ALGO": "multi_cta",
        "MAX_JOBS": "2",
    }
    me = (sys.executable, "-m", "benchmarks.hardware.topk", step)
    done = machine.run(me, timeout, env=env)
    return {
        "code": done["code"],
        "seconds": done["seconds"],
        "found": machine.last_json(done["out"]),
        "errors": done["errors"][-1500:] if done["code"] else "",
    }


def _build() -> dict[str, Any]:
    from flashinfer.jit.sampling import gen_sampling_module
    from flashinfer.jit.topk import gen_topk_module

    def build(spec: Any) -> tuple[str, float]:
        start = time.monotonic()
        spec.build(verbose=False)
        return spec.name, round(time.monotonic() - start, 1)

    with ThreadPoolExecutor(2) as pool:
        return {"seconds": dict(pool.map(build, (gen_topk_module(), gen_sampling_module())))}


def _launch(shapes: Sequence[tuple[int, int]], kernels: Sequence[str], launches: int) -> Any:
    """Run each shape and kernel, and count the launches whose result is not torch's."""
    import flashinfer
    import torch

    found: dict[str, Any] = {"flashinfer": flashinfer.__version__, "nvfp4": _nvfp4(), "rows": []}
    torch.manual_seed(0)
    for rows, columns in shapes:
        is_right = _checks(rows, columns)
        for kernel in kernels:
            start, wrong = time.monotonic(), 0
            for _ in range(launches):
                wrong += not is_right[kernel]()
            row = {"shape": f"{rows}x{columns}", "kernel": kernel, "launches": launches}
            seconds = round(time.monotonic() - start, 2)
            found["rows"].append({**row, "wrong": wrong, "seconds": seconds})
    return found


def _checks(rows: int, columns: int) -> dict[str, Callable[[], bool]]:
    """Return a launch of each kernel that says whether its result is torch's.

    The values of a row are those of a normal distribution, and no two are equal.
    """
    import flashinfer
    import torch

    order = torch.stack([torch.randperm(columns, device="cuda") for _ in range(rows)])
    logits = torch.special.ndtri((order.double() + 0.5) / columns).float()
    probs = torch.softmax(logits, -1)
    best, where = torch.topk(logits, K)
    masked = torch.full_like(logits, -torch.inf).scatter_(1, where, best)
    kept = torch.zeros_like(probs).scatter_(1, where, probs.gather(1, where))
    renormed = kept / kept.sum(-1, keepdim=True)

    def top_k() -> bool:
        values, indices = flashinfer.top_k(logits, K)
        in_order = values.sort(-1, descending=True).values
        return bool(torch.equal(in_order, best) and torch.equal(logits.gather(1, indices), values))

    def mask() -> bool:
        return bool(torch.equal(flashinfer.sampling.top_k_mask_logits(logits, K), masked))

    def renorm() -> bool:
        answer = flashinfer.sampling.top_k_renorm_probs(probs, K)
        return bool(torch.allclose(answer, renormed, rtol=1e-4, atol=0))

    return dict(zip(KERNELS, (top_k, mask, renorm), strict=True))


def _nvfp4() -> str:
    from flashinfer.utils import canonicalize_torch_dtype

    try:
        return str(canonicalize_torch_dtype("nvfp4"))
    except AttributeError as error:
        return f"AttributeError: {error}"


if __name__ == "__main__":
    match sys.argv[1]:
        case "build":
            print(json.dumps(_build()))
        case "run":
            print(json.dumps(_launch(SHAPES, KERNELS, LAUNCHES)))
        case kernel if kernel in KERNELS:
            print(json.dumps(_launch(SHAPES[:1], (kernel,), 20)))
        case _:
            machine.answer(prove)
