"""Recognise in an expression what a condition asks about: hardware, environment, a model."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from patchmgr.model.gating import Gate

CAPABILITY, PLATFORM, ENVIRONMENT = "capability", "platform", "environment"
QUANTISATION, MODEL, PROBE, OPTION = "quantisation", "model", "probe", "option"

_PATTERNS: Mapping[str, str] = {
    CAPABILITY: (
        r"(?:has_|is_|get_)?device_capability\w*|\w*compute_capability\w*|(?:is_|use_)?sm_?\d{2,3}\w*"
        r"|\w*_sm_?\d{2,3}\w*|(?:cuda_)?arch(?:_major|_minor|_family)?|arch_major|sm_version"
        r"|is_(?:blackwell|hopper|ampere|ada|turing|volta|gfx\w+|mi\d\w+)\w*|on_gfx\w*|on_mi\d\w*"
        r"|capability|device_cap|__CUDA_ARCH__|CUDA_ARCH\w*|device_capability_major"
    ),
    PLATFORM: r"is_(?:cuda|rocm|xpu|tpu|cpu|hip|npu|cuda_alike|out_of_tree|neuron|mps)|is_hip\w*",
    ENVIRONMENT: r"getenv|environ|envs?",
    QUANTISATION: (
        r"\w*quant(?:ization|isation|_method|_config|_type|_key|_scheme|_algo|_dtype|_name|_mode)\w*"
        r"|\w*(?:nv|mx)fp[468]\w*|\w*fp4\w*|\w*(?:is|use|uses)_fp8\w*|\w*int[48]_w\w*|\w*modelopt\w*"
        r"|kv_cache_dtype\w*|cache_dtype\w*"
    ),
    MODEL: (
        r"hf_(?:text_)?config|model_type|architectures?|model_arch\w*|is_(?:deepseek|glm|kimi|qwen|llama"
        r"|mistral|gemma|gpt|granite|minimax|moe_model|mtp)\w*|model_name|is_multimodal\w*|use_mla"
        r"|is_mla|use_mtp|is_hybrid\w*|is_v32|index_topk"
    ),
    PROBE: (
        r"has_[a-z]\w*|is_\w+_(?:available|supported|installed|enabled)|supports?_\w+"
        r"|\w+_is_supported|can_\w+_fuse|\w+_available"
    ),
}  # fmt: skip

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_ASKED = re.compile(r"platform|^(?:cuda|torch)$|(?:^|_)utils?$")

# Hardware that nearly everybody has is no reason to call a change inert.
BROAD = frozenset({PLATFORM})


@dataclass(frozen=True, slots=True)
class Kinds:
    """Expressions by kind: those that are known, and a series' own in front of them."""

    own: tuple[tuple[str, re.Pattern[str]], ...]
    _known: dict[str, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, own: Mapping[str, Sequence[str]]) -> Kinds:
        """Return the kinds with a series' own expressions."""
        given = [(kind, re.compile(text)) for kind, texts in own.items() for text in texts]
        known = [(kind, re.compile(text)) for kind, text in _PATTERNS.items()]
        return cls((*given, *known))

    def are_in(self, lines: Iterable[str]) -> bool:
        """Say whether some lines may have a gate; a quick look."""
        names = {name for line in lines for name in _IDENTIFIER.findall(line)}
        return any(self.of_name(name) is not None for name in names)

    def of_name(self, name: str) -> str | None:
        """Return what a name is about, None where it is about nothing known."""
        if name not in self._known:
            kinds = (kind for kind, pattern in self.own if pattern.fullmatch(name))
            self._known[name] = next(kinds, None)
        return self._known[name]

    def gate(self, node: ast.expr) -> Gate | None:
        """Return the gate that an expression is: a call, an attribute or a comparison of one."""
        for name in _names(node):
            kind = self.of_name(name)
            if kind is not None and (kind != PROBE or is_probe(node)):
                return Gate(kind, _shortened(ast.unparse(node)))
        return None

    def gates(self, node: ast.expr) -> tuple[Gate, ...]:
        """Return every gate in a condition."""
        if isinstance(node, ast.BoolOp):
            return tuple(dict.fromkeys(g for value in node.values for g in self.gates(value)))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.gates(node.operand)
            return tuple(Gate(g.kind, f"not {g.text}") for g in inner)
        found = self.gate(node)
        return () if found is None else (found,)


def is_probe(node: ast.expr) -> bool:
    """Say whether an expression asks a module or a platform, not just any object."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return True
    receiver = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    return bool(_ASKED.search(receiver.rpartition(".")[2]))


def _names(node: ast.expr) -> list[str]:
    """Return the names of an atom, the telling ones first: the last of a dotted one.

    What is in the arguments of an ordinary call says nothing of what it answers.
    """
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in _THROUGH:
            return [name for argument in node.args for name in _names(argument)]
        return _names(node.func)
    if isinstance(node, ast.Attribute):
        return [node.attr, *_names(node.value)]
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Compare):
        return [n for part in (node.left, *node.comparators) for n in _names(part)]
    if isinstance(node, ast.Subscript):
        return _names(node.value)
    if isinstance(node, ast.BinOp):
        return [*_names(node.left), *_names(node.right)]
    if isinstance(node, ast.NamedExpr):
        return _names(node.value)
    return []


_THROUGH = frozenset(
    {"bool", "int", "str", "float", "any", "all", "getattr", "hasattr", "isinstance", "len"}
    | {"tuple", "set", "issubclass"}
)


def _shortened(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:119]}…"
