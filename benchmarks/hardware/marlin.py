"""vLLM's marlin_moe operator from the emitted branch, with the patch and without it, against torch.

    python -m benchmarks.hardware.marlin ARTEFACTS

The two `ops.cu` and the kernels for bfloat16 with 4-bit weights in groups of 128 are compiled as a
library each; the schema is that of the branch's `torch_bindings.cpp`. What both compute is compared
with torch and with each other, and so is the memory that captured CUDA graphs keep.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.hardware import machine

EXPERTS, TOP_K, SIZE_K, SIZE_N, GROUP = 8, 2, 2048, 4096, 128
BATCHES = (1, 2, 3, 5, 8, 16, 33, 64, 127, 256, 512)
CAPTURED = (1, 2, 4, *range(8, 256, 8), *range(256, 513, 16))
"""The batch sizes that vLLM captures CUDA graphs for."""
MARLIN = "csrc/moe/marlin_moe_wna16"
FEW = """QUANT_CONFIGS[:] = [
    config | {"a_type": ["kBFloat16"], "c_type": ["kBFloat16"], "group_blocks": [8]}
    for config in QUANT_CONFIGS
    if config["b_type"] == "kU4B8" and "a_type" not in config
]

if __name__"""


def prove(artefacts: Path) -> dict[str, Any]:
    """Compile both sides of each release at the same time, then run one after the other."""
    trees = {
        f"{release.name} {side.name}": side
        for release in sorted(artefacts.glob("vllm-*"))
        for side in sorted(release.iterdir())
        if (side / MARLIN / "ops.cu").exists()
    }
    work = Path(tempfile.mkdtemp(prefix="marlin-"))
    jobs = {}
    for name, tree in trees.items():
        build = work / name.replace(" ", "-")
        build.mkdir()
        _generate(tree, build)
        jobs[name, "ops"] = (tree, build, tree / MARLIN / "ops.cu")
        (kernels,) = build.glob("*kernel_*.cu")
        jobs[name, "kernels"] = (tree, build, kernels)
    with ThreadPoolExecutor(8) as pool:
        done = dict(zip(jobs, pool.map(lambda job: _compile(*job), jobs.values()), strict=True))
    found: dict[str, Any] = {}
    for name, tree in trees.items():
        library = work / name.replace(" ", "-") / "marlin.so"
        linked = _link(library)
        me = (sys.executable, "-m", "benchmarks.hardware.marlin", str(tree), str(library))
        ran = machine.run(me, 240) if not linked["code"] else linked
        steps = [done[name, "kernels"], done[name, "ops"], linked, ran]
        found[name] = {
            "steps": [{k: v for k, v in step.items() if k != "out"} for step in steps],
            "found": machine.last_json(ran["out"]),
        }
    return {"sides": found, "same": _same(work)}


def _generate(tree: Path, build: Path) -> None:
    """Run the branch's generator of kernels for one configuration."""
    (script,) = [
        path
        for folder in (MARLIN, "csrc/quantization/marlin")
        if (path := tree / folder / "generate_kernels.py").exists()
    ][:1]
    few = build / "generate_few.py"
    few.write_text(script.read_text().replace("if __name__", FEW))
    command = (sys.executable, str(few), "9.0", str(build))
    subprocess.run(command, check=True, stdout=sys.stderr)


def _compile(tree: Path, build: Path, source: Path) -> dict[str, Any]:
    import torch
    from torch.utils import cpp_extension

    major, minor = torch.cuda.get_device_capability()
    python = Path(sysconfig.get_paths()["include"])
    if not (python / "Python.h").exists():  # registration.h includes it, and uses nothing of it
        python = build / "python"
        python.mkdir(exist_ok=True)
        (python / "Python.h").touch()
    folders = (build, tree / MARLIN, tree / "csrc", *cpp_extension.include_paths(), python)
    stable = ("-DUSE_CUDA", "-DTORCH_TARGET_VERSION=0x020B000000000000ULL")
    is_stable = "torch/csrc/stable" in (tree / MARLIN / "ops.cu").read_text()
    return machine.run(
        (
            *("nvcc", "-std=c++20", "-O3", "--expt-relaxed-constexpr", "-Xcompiler", "-fPIC"),
            f"-gencode=arch=compute_{major}{minor},code=sm_{major}{minor}",
            "-static-global-template-stub=false",
            *(stable if is_stable else ()),
            "-DTORCH_EXTENSION_NAME=_moe_C",
            *(f"-I{folder}" for folder in folders),
            *("-c", source, "-o", build / f"{source.stem}.o"),
        ),
        timeout=400,
        env=machine.with_pip_headers(),
    )


def _link(library: Path) -> dict[str, Any]:
    from torch.utils import cpp_extension

    torch_libs = ("torch", "torch_cpu", "torch_cuda", "c10", "c10_cuda")
    folders = [path for path in cpp_extension.library_paths() if "torch" in path]
    objects = map(str, library.parent.glob("*.o"))
    words = ("nvcc", "-shared", "-o", str(library), *objects, *(f"-L{path}" for path in folders))
    return machine.run((*words, *(f"-l{name}" for name in torch_libs)), timeout=120)


def _same(work: Path) -> dict[str, bool]:
    """Say for each release whether both sides gave the same bits."""
    import torch

    outputs: dict[str, list[Any]] = {}
    for path in sorted(work.glob("*/outputs.pt")):
        release = path.parent.name.rsplit("-", 1)[0]
        outputs.setdefault(release, []).append(torch.load(path))
    return {
        release: len(sides) == 2 and all(torch.equal(sides[0][k], sides[1][k]) for k in sides[0])
        for release, sides in outputs.items()
    }


class Operator:
    """The operator of one library, with weights for it and what they mean."""

    def __init__(self, tree: Path, library: Path) -> None:
        import torch

        text = (tree / "csrc/moe/torch_bindings.cpp").read_text()
        found = re.search(r'((?:"[^"]*"\s*)+)', text[text.index('"moe_wna16_marlin_gemm') :])
        assert found
        self.schema = "".join(re.findall(r'"([^"]*)"', found[1]))
        self._definition = torch.library.Library("_moe_C", "DEF")
        self._definition.define(self.schema)
        torch.ops.load_library(str(library))
        packing = _packing(tree)
        torch.manual_seed(0)
        q = torch.randint(0, 16, (EXPERTS, SIZE_K, SIZE_N), dtype=torch.int32)
        s = torch.rand(EXPERTS, SIZE_K // GROUP, SIZE_N).mul_(0.02).add_(0.01).bfloat16()
        scale = s.repeat_interleave(GROUP, 1).float()
        self.reference = ((q - 8).float() * scale).cuda()
        perm = packing["get_weight_perm"](4)
        self.weights = torch.stack(
            [packing["marlin_weights"](each, SIZE_K, SIZE_N, 4, perm) for each in q]
        ).cuda()
        self.scales = torch.stack(
            [packing["marlin_permute_scales"](each, SIZE_K, SIZE_N, GROUP) for each in s]
        ).cuda()
        sms = torch.cuda.get_device_properties(0).multi_processor_count
        self.workspace = torch.zeros(sms * 4, dtype=torch.int32, device="cuda")
        self.topk_weights = torch.ones(max(BATCHES), TOP_K, device="cuda")
        self.type_id = _scalar_types(tree).uint4b8.id

    def call(self, a: Any, align: tuple[Any, Any, Any], block: int) -> Any:
        """Multiply the rows of `a` by the weights of their experts."""
        import torch

        tokens, blocks, padded = align
        values = {
            "a": a,
            "b_q_weight": self.weights,
            "b_scales": self.scales,
            "workspace": self.workspace,
            "sorted_token_ids": tokens,
            "expert_ids": blocks,
            "num_tokens_past_padded": padded,
            "topk_weights": self.topk_weights,
            "moe_block_size": block,
            "top_k": TOP_K,
            "mul_topk_weights": False,
            "b_type_id": self.type_id,
            **{"size_m": a.shape[0], "size_n": SIZE_N, "size_k": SIZE_K},
            **{"is_full_k": True, "use_atomic_add": False, "use_fp32_reduce": True},
            "is_zp_float": False,
            **{"thread_k": -1, "thread_n": -1, "blocks_per_sm": -1},
        }
        operator = torch.ops._moe_C.moe_wna16_marlin_gemm
        names = [argument.name for argument in operator.default._schema.arguments]
        return operator(*(values.get(name) for name in names))


def _packing(tree: Path) -> dict[str, Any]:
    """Return the functions of the branch that pack weights, without the modules around them."""
    import numpy
    import torch

    folder = tree / "vllm/model_executor/layers/quantization/utils"
    names = {"get_weight_perm", "marlin_permute_weights", "marlin_weights", "get_pack_factor"}
    names |= {"marlin_permute_scales", "get_scale_perms"}
    scope: dict[str, Any] = {"np": numpy, "numpy": numpy, "torch": torch, "GPTQ_MARLIN_TILE": 16}
    for file in ("quant_utils.py", "marlin_utils.py", "marlin_utils_test.py"):
        module = ast.parse((folder / file).read_text())
        module.body = [
            node for node in module.body if isinstance(node, ast.FunctionDef) and node.name in names
        ]
        exec(compile(module, file, "exec"), scope)
    return scope


def _scalar_types(tree: Path) -> Any:
    spec = importlib.util.spec_from_file_location("scalar_type", tree / "vllm/scalar_type.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["scalar_type"] = module
    spec.loader.exec_module(module)
    return module.scalar_types


def _align(experts: Any, block: int) -> tuple[Any, Any, Any]:
    """Return token ids by expert, padded to blocks; the expert of each block; how many ids."""
    import torch

    flat = experts.flatten()
    tokens, blocks = [], []
    for expert in range(EXPERTS):
        ids = (flat == expert).nonzero().flatten().tolist()
        ids += [flat.numel()] * (-len(ids) % block)
        tokens += ids
        blocks += [expert] * (len(ids) // block)
    to = {"dtype": torch.int32, "device": "cuda"}
    return torch.tensor(tokens, **to), torch.tensor(blocks, **to), torch.tensor([len(tokens)], **to)


def _measure(tree: Path, library: Path) -> dict[str, Any]:
    import torch

    operator = Operator(tree, library)
    outputs, rows = {}, []
    for batch in BATCHES:
        a, experts, align, block = _inputs(batch)
        for _ in range(2):  # the second call is measured: the first one may load kernels
            torch.cuda.synchronize()
            before = torch.cuda.memory_allocated()
            torch.cuda.reset_peak_memory_stats()
            answer = operator.call(a, align, block)
            peak = torch.cuda.max_memory_allocated() - before
        wanted = _by_expert(a, experts, operator.reference)
        worst = ((answer.float() - wanted).abs().max() / wanted.abs().max()).item()
        outputs[str(batch)] = answer.cpu()
        own = answer.numel() * answer.element_size()
        rows.append({"batch": batch, "block": block, "worst": worst, "c_tmp_bytes": peak - own})
    torch.save(outputs, library.with_name("outputs.pt"))
    graphs = {
        "small first": _graphs(operator, CAPTURED),
        "large first": _graphs(operator, CAPTURED[::-1]),
    }
    return {"schema": operator.schema, "rows": rows, "graphs": graphs}


def _inputs(batch: int) -> tuple[Any, Any, tuple[Any, Any, Any], int]:
    """Return rows, the experts of each, these by expert, and the size of a block."""
    import torch

    a = torch.randn(batch, SIZE_K, device="cuda").mul_(0.5).bfloat16()
    experts = torch.stack([torch.randperm(EXPERTS)[:TOP_K] for _ in range(batch)]).cuda()
    block = 8 if batch <= 16 else 16 if batch <= 64 else 64
    return a, experts, _align(experts, block), block


def _by_expert(a: Any, experts: Any, weights: Any) -> Any:
    """Return what torch makes of the rows and the weights of their experts, in float32."""
    import torch

    wanted = torch.empty(*experts.shape, SIZE_N, device="cuda")
    for expert in range(EXPERTS):
        row, slot = (experts == expert).nonzero(as_tuple=True)
        wanted[row, slot] = a[row].float() @ weights[expert]
    return wanted.reshape(-1, SIZE_N)


def _graphs(operator: Operator, batches: Sequence[int]) -> dict[str, int]:
    """Capture a graph for each batch in one pool; return how the memory of the pool grows."""
    import torch

    inputs = [_inputs(batch) for batch in batches]
    pool, kept, reserved = torch.cuda.graph_pool_handle(), [], []
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    start = torch.cuda.memory_reserved()
    for a, _, align, block in inputs:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            operator.call(a, align, block)
        kept.append(graph)
        reserved.append(torch.cuda.memory_reserved() - start)
    for graph in kept:
        graph.replay()
    torch.cuda.synchronize()
    return {"graphs": len(kept), "first": reserved[0], "all": reserved[-1]}


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(_measure(Path(sys.argv[1]), Path(sys.argv[2]))))
    else:
        machine.answer(prove)
