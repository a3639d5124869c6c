"""vLLM's Triton kernel of sliding-window indices, patched and not, against a reference in torch.

    python -m benchmarks.hardware.swa_clamp ARTEFACTS

The kernel is taken out of the branch's `sparse_swa.py` alone. From 0.30.0 a token inside an image
sees positions to its right, too; `as-text` is what a text merge makes of the patch there: it
applies, and clamps to the block of the token itself.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.hardware import machine

FILE = "vllm/v1/attention/backends/mla/sparse_swa.py"
KERNEL = "_compute_swa_indices_and_lens_kernel"
BLOCK, WINDOW, IMAGE = 64, 128, 192
REQUESTS = ((37, 37), (300, 64), (1000, 200), (64, 64), (129, 1), (5000, 333))
"""Sequence length and query length of each."""


def prove(artefacts: Path) -> dict[str, Any]:
    """Hold the kernel of each side of each release against the reference."""
    work = Path(tempfile.mkdtemp(prefix="swa-"))
    found: dict[str, Any] = {"block": BLOCK, "window": WINDOW, "requests": REQUESTS}
    for path in sorted(artefacts.glob(f"vllm-*/*/{FILE}")):
        side = path.relative_to(artefacts).parts[:2]
        kernel = _kernel(path, work / f"{'_'.join(side)}.py".replace("-", "_"))
        images = (False, True) if "HAS_IMAGE" in kernel.arg_names else (False,)
        for has_image in images:
            name = f"{' '.join(side)}{', with images' if has_image else ''}"
            found[name] = _run(kernel, has_image)
    return found


def _kernel(source: Path, target: Path) -> Any:
    """Write the kernel to a module of its own, and load that."""
    text = source.read_text()
    (node,) = [
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == KERNEL
    ]
    start = min(decorator.lineno for decorator in node.decorator_list) - 1
    lines = text.splitlines()[start : node.end_lineno]
    target.write_text("import triton\nimport triton.language as tl\n\n" + "\n".join(lines) + "\n")
    spec = importlib.util.spec_from_file_location(target.stem, target)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[target.stem] = module
    spec.loader.exec_module(module)
    return getattr(module, KERNEL)


def _run(kernel: Any, has_image: bool) -> dict[str, Any]:
    import torch

    given = _inputs(has_image)
    tokens = given["token_to_req_indices_ptr"].numel()
    width = WINDOW + (2 * IMAGE if has_image else 0)
    to = {"dtype": torch.int32, "device": given["seq_lens_ptr"].device}
    indices = torch.full((tokens, width), -7, **to)
    lens = torch.full((tokens,), -7, **to)
    values = given | {
        **{"swa_indices_ptr": indices, "swa_indices_stride": width, "swa_lens_ptr": lens},
        **{"window_size": WINDOW, "index_width": width, "block_size": BLOCK, "token_offset": 0},
        "block_table_stride": given["block_table_ptr"].stride(0),
        **{"HAS_IMAGE": has_image, "TRITON_BLOCK_SIZE": 128},
    }
    kernel[(tokens,)](**{name: values[name] for name in kernel.arg_names})
    want_indices, want_lens = _reference(given, width, has_image)
    valid = given["is_valid_token_ptr"].cpu()
    rows = (indices.cpu() != want_indices).any(1) & valid
    return {
        "tokens": int(valid.sum()),
        "tokens with a wrong index": int(rows.sum()),
        "wrong indices": int(((indices.cpu() != want_indices)[valid]).sum()),
        "wrong lengths": int((lens.cpu() != want_lens).sum()),
    }


def _inputs(has_image: bool) -> dict[str, Any]:
    """Return the tensors of a batch: each request ends in an image, and the last token is none."""
    import torch

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    to = {"dtype": torch.int32, "device": device}
    lengths = [length for length, _ in REQUESTS]
    queries = [query for _, query in REQUESTS]
    starts = torch.tensor([0, *torch.tensor(queries).cumsum(0).tolist()], **to)
    owner = [request for request, query in enumerate(queries) for _ in range(query)] + [0]
    blocks = -(-max(lengths) // BLOCK)
    table = torch.randperm(len(lengths) * blocks).reshape(len(lengths), blocks).to(**to)
    left, right = torch.zeros(len(owner), **to), torch.zeros(len(owner), **to)
    if has_image:
        for token, request in enumerate(owner[:-1]):
            pos = lengths[request] - queries[request] + token - int(starts[request])
            end = lengths[request] - 1
            begin = max(end - IMAGE + 1, 0)
            if begin <= pos <= end:
                left[token], right[token] = pos - begin, end - pos
    return {
        "query_start_loc_ptr": starts,
        "seq_lens_ptr": torch.tensor(lengths, **to),
        "token_to_req_indices_ptr": torch.tensor(owner, **to),
        "is_valid_token_ptr": torch.tensor([True] * (len(owner) - 1) + [False], device=device),
        "block_table_ptr": table,
        "left_visible_ptr": left,
        "right_visible_ptr": right,
        "replay_start_ptr": torch.zeros(len(lengths), **to),
    }


def _reference(given: dict[str, Any], width: int, has_image: bool) -> tuple[Any, Any]:
    """Return slots and lengths as the kernel's documentation has them, position by position."""
    import torch

    cpu = {name: tensor.cpu() for name, tensor in given.items()}
    owner, starts = cpu["token_to_req_indices_ptr"], cpu["query_start_loc_ptr"]
    indices = torch.full((len(owner), width), -1, dtype=torch.int32)
    lens = torch.zeros(len(owner), dtype=torch.int32)
    for token, request in enumerate(owner.tolist()):
        if not cpu["is_valid_token_ptr"][token]:
            continue
        query = int(starts[request + 1] - starts[request])
        pos = int(cpu["seq_lens_ptr"][request]) - query + token - int(starts[request])
        left = int(cpu["left_visible_ptr"][token]) if has_image else 0
        right = int(cpu["right_visible_ptr"][token]) if has_image else 0
        first = max(pos - max(WINDOW - 1, left), 0)
        seen = torch.arange(first, pos + right + 1)
        slots = cpu["block_table_ptr"][request][seen // BLOCK] * BLOCK + seen % BLOCK
        lens[token] = len(seen)
        indices[token, : len(seen)] = slots
    return indices, lens


if __name__ == "__main__":
    machine.answer(prove)
