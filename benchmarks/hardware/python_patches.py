"""What vLLM's Python patches do: functions of emitted branches, run with everything around stubbed.

    python -m benchmarks.hardware.python_patches ARTEFACTS

A function is taken out of its file as it is. What it uses and this module does not give is a mock.
The same is asked of upstream's text of the function and of the branch's. Needs torch (without a
card) and pydantic.
"""

from __future__ import annotations
import __future__

import ast
import asyncio
import builtins
import importlib.util
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, MagicMock


def prove(artefacts: Path) -> dict[str, Any]:
    """Ask each question of both sides of every release that has the function."""
    return {
        f"{release.name} {side}": {
            patch: answer
            for patch, question in QUESTIONS.items()
            if (answer := question(Side(release / side))) not in (None, {})
        }
        for release in sorted(artefacts.glob("vllm-*"))
        for side in ("upstream", "branch")
    }


class _Scope(dict[str, Any]):
    """Global names of a function; a mock for each that nobody gave."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name) if hasattr(builtins, name) else MagicMock(name=name)


class Side:
    """The Python files of one side."""

    def __init__(self, folder: Path) -> None:
        self.trees = [ast.parse(path.read_bytes()) for path in sorted(folder.rglob("*.py"))]

    def take(self, owner: str, names: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a class, or with no owner a module, defines by these names.

        Decorators are taken off functions, and annotations are not read.
        """
        scope = _Scope(given)
        wanted = names.split()
        for tree in self.trees:
            bodies: list[Any] = [tree] if not owner else _classes(tree, owner)
            nodes = [n for body in bodies for n in body.body if getattr(n, "name", "") in wanted]
            if any(node.name == wanted[0] for node in nodes):
                for node in nodes:
                    if not isinstance(node, ast.ClassDef):
                        node.decorator_list = []
                module = ast.Module(nodes, [])
                flags = __future__.annotations.compiler_flag if owner else 0
                exec(compile(module, names, "exec", flags, dont_inherit=True), scope)
                return scope
        return {}


def _classes(tree: ast.Module, name: str) -> list[ast.ClassDef]:
    return [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]


def _deepgemm_on(side: Side) -> Any:
    """Is DeepGEMM supported on family 120?"""
    found = side.take("CudaPlatformBase", "support_deep_gemm", {})
    card = MagicMock()
    card.is_device_capability.return_value = False
    card.is_device_capability_family.side_effect = lambda family: family == 120
    return found and found["support_deep_gemm"](card)


def _clamp(side: Side) -> Any:
    """What does a model with swiglu_limit get that asks for flashinfer_cutlass?"""
    names = "FLASHINFER_TRTLLM FLASHINFER_CUTEDSL FLASHINFER_CUTEDSL_BATCHED FLASHINFER_CUTLASS "
    names += "VLLM_CUTLASS MARLIN EMULATION"
    backends = SimpleNamespace(**{name: _Backend(name) for name in names.split()})
    kernels = MagicMock()
    kernels.is_supported_config.return_value = (True, None)
    given = {
        "NvFp4MoeBackend": backends,
        "map_nvfp4_backend": lambda name: getattr(backends, name.upper()),
        "backend_to_kernel_cls": lambda backend: [kernels],
    }
    found = side.take("", "select_nvfp4_moe_backend", given)
    config = MagicMock(swiglu_limit=7.0, moe_backend="flashinfer_cutlass")
    config.moe_parallel_config.use_batched_activation_format = False
    return found and _or_error(lambda: found["select_nvfp4_moe_backend"](config, None, None)[0])


class _Backend(str):
    @property
    def value(self) -> str:
        return str(self)


def _stale_hash(side: Side) -> Any:
    """What is left of the hash of a block that is not in the cache?"""
    found = side.take("BlockPool", "_maybe_evict_cached_block", {})
    block = MagicMock(block_hash="stale")
    pool = MagicMock(metrics_collector=None)
    pool.cached_block_hash_to_block.pop.return_value = None
    if not found:
        return None
    found["_maybe_evict_cached_block"](pool, block)
    return "reset" if block.reset_hash.called else "left"


def _scale_view(side: Side) -> Any:
    """Which bytes does a uint8 parameter hold for the e8m0 scales 0.5 and 2?"""
    import torch

    for owner in ("RoutedExperts", "FusedMoE"):
        names = "_load_per_tensor_weight_scale _e8m0_bits _to_scalar"
        found = side.take(owner, names, {"torch": torch})
        if found:
            helpers = {n: found[n] for n in names.split()[1:] if n in found}
            param = SimpleNamespace(data=torch.zeros(2, 2, dtype=torch.uint8))
            for shard, value in (("w1", 0.5), ("w3", 2.0)):
                scale = torch.tensor(value).to(torch.float8_e8m0fnu)
                found["_load_per_tensor_weight_scale"](
                    SimpleNamespace(**helpers), shard, param, scale, 1
                )
            return param.data[1].tolist()
    return None


def _delta_hook(side: Side) -> Any:
    """What does a stream send of reasoning?"""
    import pydantic

    given = {name: getattr(pydantic, name) for name in ("Field", "model_validator")}
    given |= {"model_serializer": pydantic.model_serializer, "OpenAIBaseModel": pydantic.BaseModel}
    given |= {"DeltaToolCall": str}
    found = side.take("", "DeltaMessage", given)
    return found and found["DeltaMessage"](reasoning="why").model_dump(exclude_unset=True)


def _stop_ids(side: Side) -> Any:
    """Which token ids stop a request that switches thinking on, and one that does not?"""
    params = MagicMock()
    given = {"SamplingParams": params, "RequestOutputKind": MagicMock()}
    names = "to_sampling_params _with_thinking_stop_ids"
    found = side.take("ChatCompletionRequest", names, given)
    if not found:
        return None
    stops = {}
    for effort in ("high", "none"):
        request = MagicMock(stop_token_ids=[1], reasoning_effort=effort, response_format=None)
        request.vllm_xargs = {"thinking_stop_token_ids": [7]}
        request.chat_template_kwargs = None
        if "_with_thinking_stop_ids" in found:
            method = found["_with_thinking_stop_ids"].__get__(request)
            request._with_thinking_stop_ids = method
        found["to_sampling_params"](request, 16, {"stop_token_ids": [2]})
        stops[effort] = params.from_optional.call_args.kwargs["stop_token_ids"]
    return stops


def _render(side: Side) -> Any:
    """Which switch does a template get, and what is left of a budget when thinking is off?"""
    merge = lambda old, new: {**(old or {}), **new}  # noqa: E731
    owners = ("OnlineRenderer", "OpenAIServingRender")
    chat = next(
        filter(None, (side.take(o, "render_chat", {"merge_kwargs": merge}) for o in owners)), None
    )
    given = {"ErrorResponse": type("ErrorResponse", (), {})}
    owners = ("ServingRender", "OpenAIServingRender")
    sites = (side.take(o, "render_chat_request", given) for o in owners)
    site = next(filter(None, sites), None)
    if not chat or not site:
        return None
    renderer = MagicMock(use_harmony=False, default_chat_template_kwargs=None)
    renderer.preprocess_chat = AsyncMock(return_value=([], [MagicMock()]))
    renderer.validate_chat_template.return_value = None
    request = MagicMock(reasoning_effort="high", chat_template_kwargs=None, tools=None)
    asyncio.run(chat["render_chat"](renderer, request))
    kwargs = renderer.preprocess_chat.call_args.kwargs["default_template_kwargs"]
    server = MagicMock(_check_model=AsyncMock(return_value=None))
    server.render_chat = AsyncMock(return_value=([], [MagicMock()]))
    server.online_renderer.render_chat = server.render_chat
    request = MagicMock(reasoning_effort="none", thinking_token_budget=64, use_beam_search=False)
    _or_error(lambda: asyncio.run(site["render_chat_request"](server, request)))
    return {"template": kwargs, "budget": request.thinking_token_budget}


def _nvfp4_dtype(side: Side) -> Any:
    """What does the builder hand to FlashInfer's plan for an nvfp4 cache?"""
    import torch

    given = {"torch": torch}
    owner = side.take("FlashInferBackend", "get_dtype_for_flashinfer", given)
    if not owner:
        return None
    backend = SimpleNamespace(get_dtype_for_flashinfer=owner["get_dtype_for_flashinfer"])
    builder = SimpleNamespace(cache_dtype="nvfp4")
    bodies = (body for tree in side.trees for body in _classes(tree, "FlashInferMetadataBuilder"))
    for node in (node for body in bodies for node in ast.walk(body)):
        if isinstance(node, ast.If) and ast.unparse(node.test) in NVFP4_TESTS:
            sets = [n for n in node.body if ast.unparse(n).startswith("self.kv_cache_dtype =")]
            if sets:
                scope = {"self": builder, "FlashInferBackend": backend}
                exec(ast.unparse(sets[0]), scope)
                return str(builder.kv_cache_dtype)
    return None


def _or_error(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # whatever a function raises is what is asked
        return f"{type(error).__name__}: {error}"


NVFP4_TESTS = ("self.is_kvcache_nvfp4", "self.nvfp4_trtllm")
"""What guards the dtype of an nvfp4 cache: the first to 0.31.0, then the second, on SM100 alone."""

QUESTIONS: Mapping[str, Callable[[Side], Any]] = {
    "clamp": _clamp,
    "deepgemm-on": _deepgemm_on,
    "delta-hook": _delta_hook,
    "nvfp4-dtype": _nvfp4_dtype,
    "render": _render,
    "scale-view": _scale_view,
    "stale-hash": _stale_hash,
    "stop-ids": _stop_ids,
}


if __name__ == "__main__":
    missing = [m for m in ("torch", "pydantic") if importlib.util.find_spec(m) is None]
    if missing:
        print(json.dumps({"skipped": f"{' and '.join(missing)}: not installed"}))
    else:
        print(json.dumps(prove(Path(sys.argv[1]).resolve()), indent=1, default=str))
