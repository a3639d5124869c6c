"""Recognise in an expression what a condition asks about: hardware, environment, a model."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

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
    PLATFORM: (
        r"is_(?:cuda|rocm|xpu|tpu|cpu|hip|npu|cuda_alike|out_of_tree|neuron|mps)|is_hip\w*"
        r"|(?:get_)?\w*device_type|\w*DeviceType"
    ),
    ENVIRONMENT: r"getenv|environ|envs?",
    QUANTISATION: (
        r"\w*quant(?:ization|isation|_method|_config|_type|_key|_scheme|_algo|_dtype|_name|_mode)\w*"
        r"|\w*(?:nv|mx)fp[468]\w*|\w*fp4\w*|\w*(?:is|use|uses)_fp8\w*|\w*int[48]_w\w*|\w*modelopt\w*"
        r"|kv_cache_dtype\w*|cache_dtype\w*|\w+_quant|\w*quantized\w*|scale_(?:format|type|dtype)|float8_\w+"
    ),
    MODEL: (
        r"hf_(?:text_)?config|model_type|architectures?|model_arch\w*|is_(?:deepseek|glm|kimi|qwen|llama"
        r"|mistral|gemma|gpt|granite|minimax|moe_model|mtp)\w*|model_name|is_multimodal\w*|use_mla"
        r"|is_mla|use_mtp|is_hybrid\w*|is_v32|index_topk"
    ),
    PROBE: (
        r"has_[a-z]\w*|is_\w+_(?:available|supported|installed|enabled)|supports?_\w+"
        r"|\w+_supported|can_\w+_fuse|\w+_available"
    ),
}  # fmt: skip

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_ASKED = re.compile(r"platform|^(?:cuda|torch)$|(?:^|_)utils?$")

# Hardware that nearly everybody has is no reason to call a change inert.
BROAD = frozenset({PLATFORM})
_FLAG = re.compile(
    r"(?:is|use|uses|has|on|enables?|tie|supports?)_\w+|\w*sm_?\d{2,3}\w*|quant(?:ization)?_config"
    r"|quantization|\w*(?:nv|mx)?fp4\w*|\w+_(?:enabled|quant)|(?:HAS|IS|USE)_\w+"
)
_INSTALLED = re.compile(r"has_\w+|is_\w+_(?:available|supported|installed)|HAS_\w+")
_STATE = re.compile(r"context|stream|graph|captur|profil|forward|request|current|cuda_|gpu", re.I)


class Kinds(Struct, frozen=True):
    """Expressions by kind: a series' own, and behind them those that are known."""

    own: tuple[tuple[str, re.Pattern[str]], ...]
    known: tuple[tuple[str, re.Pattern[str]], ...]
    _names: dict[str, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, own: Mapping[str, Sequence[str]]) -> Kinds:
        """Return the kinds with a series' own expressions."""
        given = [(kind, re.compile(text)) for kind, texts in own.items() for text in texts]
        known = [(kind, re.compile(text)) for kind, text in _PATTERNS.items()]
        return cls(tuple(given), tuple(known))

    def are_in(self, lines: Iterable[str]) -> bool:
        """Say whether some lines may have a gate; a quick look."""
        names = {name for line in lines for name in _IDENTIFIER.findall(line)}
        return any(self.of_name(name) is not None for name in names)

    def of_name(self, name: str) -> str | None:
        """Return what a name is about, None where it is about nothing known."""
        if name not in self._names:
            every = (*self.own, *self.known)
            kinds = (kind for kind, pattern in every if pattern.fullmatch(name))
            self._names[name] = next(kinds, None)
        return self._names[name]

    def is_off(self, node: ast.expr) -> bool:
        """Say whether an expression is a flag that is off for those who have nothing of its kind.

        Its own name must say so, not that of the object that has it. What a series itself names
        is one.
        """
        name = _last(node)
        if self.is_named(name):
            return True
        kind = self.of_name(name)
        if kind == PROBE:
            is_plain = isinstance(node, ast.Call) and not node.args and not node.keywords
            return is_plain and bool(_INSTALLED.fullmatch(name)) and not _STATE.search(name)
        return kind is not None and is_flag(name)

    def is_named(self, name: str) -> bool:
        """Say whether a name is one that the series itself calls a gate."""
        return any(pattern.fullmatch(name) for _, pattern in self.own)

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
        if isinstance(node, ast.Call) and _last(node) in ("bool", "const_expr", "constexpr"):
            return tuple(dict.fromkeys(g for value in node.args for g in self.gates(value)))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.gates(node.operand)
            return tuple(_negated(gate) for gate in inner)
        found = self.gate(node)
        return () if found is None else (found,)


def _negated(gate: Gate) -> Gate:
    text = gate.text
    return Gate(gate.kind, text.removeprefix("not ") if text.startswith("not ") else f"not {text}")


def is_flag(name: str) -> bool:
    """Say whether something is a flag by its name, and no value that is there for everybody.

    At least some version of something (`has_device_capability`) is too many people.
    """
    return _FLAG.fullmatch(name) is not None and not name.startswith("has_device_capability")


def _last(node: ast.expr) -> str:
    """Return the last name of a dotted one, or of what is called."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


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
        if _last(node) in _THROUGH:
            names = [name for argument in node.args for name in _names(argument)]
            return [name for name in names if name != "quant_method"]
        return _names(node.func)
    if isinstance(node, ast.Attribute):
        # Every layer has a `quant_method`: that one has something says nothing.
        return [node.attr, *(name for name in _names(node.value) if name != "quant_method")]
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
    | {"tuple", "set", "issubclass", "const_expr", "constexpr"}
)


def _shortened(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:119]}…"
