"""DeepGEMM's headers from the patched wheel, compiled and run, with the patch and without it.

    python -m benchmarks.hardware.gemm ARTEFACTS

On SM90 the GEMM with TMA multicast, which goes through the patched `copy_nd`, is compared with
torch. For SM120, which this machine has not, the instruction that a multicast copy becomes is read
from the assembly, and every header with SM120 kernels is compiled. `_C.so` of the wheel is loaded
only where this torch has the symbols that it wants.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.hardware import machine

HERE = Path(__file__).parent
SHAPES = (
    (128, 2112, 7168),
    (512, 4096, 7168),
    (1000, 7168, 2048),
    (4096, 4096, 7168),
    (4096, 24576, 1536),
    (8192, 7168, 4096),
)


def prove(artefacts: Path) -> dict[str, Any]:
    """Compile and run both sides."""
    root = Path(tempfile.mkdtemp(prefix="gemm-"))
    (wheel,) = artefacts.glob("sgl_deep_gemm-*.whl")
    sides = {"with": root / "with", "without": root / "without"}
    files = [machine.unpack(wheel, side) for side in sides.values()]
    changed = machine.overlay(sides["without"], artefacts / "upstream" / wheel.name.split("+")[0])
    with ThreadPoolExecutor(12) as pool:
        headers = {
            path.name: pool.submit(_header, sides["with"], path, root)
            for path in sorted((sides["with"] / "deep_gemm/include").rglob("sm120*.cuh"))
        }
        copies = {side: pool.submit(_copies, tree, root) for side, tree in sides.items()}
        kernels = {side: pool.submit(_sm120, tree, root) for side, tree in sides.items()}
        gemms = {
            (side, on): pool.submit(_build, tree, on, root / f"{side}-{on}.so")
            for side, tree in sides.items()
            for on in ("a", "b")
        }
    found: dict[str, Any] = {"wheel": wheel.name, "files": files[0], "changed": changed}
    found["sm120 headers"] = {name: job.result() for name, job in headers.items()}
    found["sm120 kernel"] = {side: job.result() for side, job in kernels.items()}
    found["copy"] = {side: job.result() for side, job in copies.items()}
    found["extension"] = _extension(sides["with"])
    found["gemms"] = [_gemms(side, on, job.result()) for (side, on), job in gemms.items()]
    return found


def _nvcc(tree: Path, source: Path, *options: str | Path) -> dict[str, Any]:
    words = ("nvcc", "-std=c++20", "-O3", "--expt-relaxed-constexpr", "-w", *options)
    return machine.run((*words, f"-I{tree / 'deep_gemm/include'}", source), timeout=300)


def _arch(arch: str) -> str:
    return f"-gencode=arch=compute_{arch},code=sm_{arch}"


def _header(tree: Path, header: Path, root: Path) -> dict[str, Any]:
    """Compile a header with SM120 kernels for SM120."""
    source = root / f"{header.stem}.cu"
    source.write_text(f"#include <{header.relative_to(tree / 'deep_gemm/include')}>\n")
    done = _nvcc(tree, source, _arch("120a"), "-cubin", "-o", root / f"{header.stem}.cubin")
    return {"code": done["code"], "seconds": done["seconds"], "errors": done["errors"][-800:]}


def _copies(tree: Path, root: Path) -> dict[str, Any]:
    """Return the load instructions of a multicast copy, for each architecture."""
    found = {}
    for arch in ("90a", "100a", "120a"):
        step, text = _ptx(tree, HERE / "copy.cu", arch, root)
        entry = text[text.rfind(".entry") :].split("\n}\n")[0]
        loads = sorted(set(re.findall(r"cp\.async\.bulk\.tensor[\w.:]+", entry)))
        found[arch] = {**step, "loads": loads}
    return found


def _sm120(tree: Path, root: Path) -> dict[str, Any]:
    """Compile a kernel for SM120, and count its instructions of the tensor cores."""
    step, text = _ptx(tree, HERE / "sm120.cu", "120a", root)
    cubin = root / f"{tree.name}-sm120.cubin"
    done = _nvcc(tree, HERE / "sm120.cu", _arch("120a"), "-cubin", "-o", cubin)
    size = cubin.stat().st_size if cubin.exists() else 0
    return {**step, "cubin": done["code"], "bytes": size, "mma.sync": text.count("mma.sync")}


def _ptx(tree: Path, source: Path, arch: str, root: Path) -> tuple[dict[str, Any], str]:
    """Compile to assembly, and return it without the names that hold nvcc's process id."""
    target = root / f"{tree.name}-{source.stem}-{arch}.ptx"
    done = _nvcc(tree, source, f"-arch=compute_{arch}", "-ptx", "-o", target)
    text = target.read_text() if target.exists() else ""
    text = re.sub(r"(?m)^\.global .* _ZN\d+_INTERNAL_.*\n", "", text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"code": done["code"], "ptx": digest, "errors": done["errors"][-800:]}, text


def _build(tree: Path, on: str, target: Path) -> tuple[Path, dict[str, Any]]:
    import torch

    sms = torch.cuda.get_device_properties(0).multi_processor_count // 2 * 2
    options = (
        *(_arch("90a"), "-shared", "-Xcompiler", "-fPIC", "-o", target),
        *(f"-DNUM_SMS={sms}", f"-DMULTICAST_ON_A={'true' if on == 'a' else 'false'}"),
    )
    return target, _nvcc(tree, HERE / "gemm.cu", *options)


def _gemms(side: str, on: str, built: tuple[Path, dict[str, Any]]) -> dict[str, Any]:
    """Run every shape, and compare with torch."""
    import torch

    library, step = built
    found: dict[str, Any] = {"side": side, "multicast": on, "build": step, "rows": []}
    if step["code"] or torch.cuda.get_device_capability()[0] != 9:
        return found
    gemm = ctypes.CDLL(str(library)).gemm
    torch.manual_seed(0)
    for m, n, k in SHAPES:
        a = torch.randn(m, k, device="cuda").bfloat16()
        b = torch.randn(n, k, device="cuda").bfloat16()
        d = torch.full((m, n), torch.nan, device="cuda").bfloat16()
        words = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (a, b, d)]
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        code = gemm(*words, *(ctypes.c_uint32(size) for size in (m, n, k)), stream)
        torch.cuda.synchronize()
        wanted = a.float() @ b.float().T
        worst = ((d.float() - wanted).abs().max() / wanted.abs().max()).item()
        torch_worst = (((a @ b.T).float() - wanted).abs().max() / wanted.abs().max()).item()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(20):
            gemm(*words, *(ctypes.c_uint32(size) for size in (m, n, k)), stream)
        end.record()
        end.synchronize()
        milliseconds = start.elapsed_time(end) / 20
        found["rows"].append(
            {
                "shape": f"{m}x{n}x{k}",
                "code": code,
                "worst": worst,
                "torch's worst": torch_worst,
                "tflops": round(2e-9 * m * n * k / milliseconds, 1),
                "sha256": hashlib.sha256(d.view(torch.int16).cpu().numpy().tobytes()).hexdigest(),
            }
        )
    return found


def _extension(tree: Path) -> str:
    """Say whether the compiled part of the wheel fits this torch."""
    import torch

    try:
        ctypes.CDLL(str(tree / "deep_gemm/_C.so"))  # torch's load_library does not say why not
    except OSError as error:
        return str(error)
    torch.ops.load_library(str(tree / "deep_gemm/_C.so"))
    return "loaded"


if __name__ == "__main__":
    machine.answer(prove)
