"""Sixty changed sites in the shape of those in public forks, each labelled by hand.

The texts are our own. `truth` is what a reviewer says who has read the change: "inert" (nobody
notices whom the gate keeps out), "gated" (a gate is in front of it, but others may notice, or
who is in is broad), "shared" (it runs for everybody) or "added" (a new name that runs where it is
used). `mark` is a text in the line that the label is about; with a minus in front it is a line of
the old text.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One site: the text before and after, the line, the label, and why it is so."""

    name: str
    before: str
    after: str
    mark: str
    truth: str
    why: str


def _in(body: str, head: str = "def f(x, layer, config):") -> str:
    return head + "\n" + "".join(f"    {line}\n" if line else "\n" for line in body.split("\n"))


def _f(name: str, before: str, after: str, mark: str, truth: str, why: str) -> Case:
    return Case(name, _in(before), _in(after), mark, truth, why)


CASES = (
    _f("env debug block", "y = g(x)\nreturn y",
       'y = g(x)\nif os.getenv("APP_DEBUG_META", "0") == "1":\n    log(y)\nreturn y',
       "log(y)", "inert", "The variable is off unless somebody sets it."),
    _f("env on by default", "y = g(x)\nreturn y",
       'y = g(x)\nif os.getenv("APP_FAST", "1") == "1":\n    y = fast(y)\nreturn y',
       "fast(y)", "shared", "It is on unless somebody turns it off."),
    _f("env without a known default", "return g(x)",
       "if envs.APP_NEW_PATH:\n    return new(x)\nreturn g(x)",
       "new(x)", "gated", "A flag, but its default is not in this file."),
    _f("capability family", "return g(x)",
       "if current_platform.is_device_capability_family(120):\n    return new(x)\nreturn g(x)",
       "new(x)", "inert", "Only that family takes the new way."),
    _f("capability in or", "return is_hopper() or is_blackwell()",
       "return is_hopper() or is_blackwell() or is_sm120()",
       "is_sm120()", "inert", "False or what it was."),
    _f("capability in and not", "use = cuda() and big(x)\nreturn use",
       "use = cuda() and big(x) and not is_sm120()\nreturn use",
       "not is_sm120()", "gated", "For all others it is true, but the value may be no bool."),
    _f("else branch of a gate", "return g(x)",
       "if is_sm120():\n    return g(x)\nelse:\n    return h(x)",
       "return h(x)", "shared", "The else branch is for everybody else."),
    _f("negated gate", "y = g(x)\nreturn y",
       "y = g(x)\nif not is_sm120():\n    y = h(y)\nreturn y",
       "h(y)", "shared", "It runs for everybody but the gate."),
    _f("early return for others", "return g(x)",
       "if not is_sm120():\n    return g(x)\nreturn new(x)",
       "return new(x)", "inert", "Others leave before it, as they did."),
    _f("flag in a local", "y = g(x)\nreturn y",
       "use_new = is_sm120() and x.ok\ny = g(x)\nif use_new:\n    y = new(y)\nreturn y",
       "new(y)", "inert", "The local is false for all others."),
    _f("flag set in a branch", "y = g(x)\nreturn y",
       "use_new = False\nif has_new_kernels():\n    use_new = True\ny = g(x)\n"
       "if use_new:\n    y = new(y)\nreturn y",
       "y = new(y)", "inert", "It stays false without the library."),
    _f("flag that others set too", "y = g(x)\nreturn y",
       "use_new = False\nif has_new_kernels():\n    use_new = True\nif x.big:\n    use_new = True\n"
       "y = g(x)\nif use_new:\n    y = new(y)\nreturn y",
       "y = new(y)", "shared", "Something that is not a gate sets it, too."),
    _f("side effect before the gate", "y = g(x)\nreturn y",
       "y = g(x)\nif x.pop() and is_sm120():\n    y = new(y)\nreturn y",
       "x.pop()", "gated", "Everybody pops."),
    _f("gate before the side effect", "y = g(x)\nreturn y",
       "y = g(x)\nif is_sm120() and x.pop():\n    y = new(y)\nreturn y",
       "new(y)", "inert", "Nobody else gets to the pop."),
    _f("quantisation by name", "return g(x)",
       'if quant_algo == "FP8_PB":\n    return new(x)\nreturn g(x)',
       "new(x)", "inert", "Other algorithms go on as before."),
    _f("quantisation is not none", "return g(x)",
       "if config.quant_config is not None:\n    return new(x)\nreturn g(x)",
       "new(x)", "inert", "Nothing is quantised for the others."),
    _f("quantisation is none", "return g(x)",
       "if config.quant_config is None:\n    return new(x)\nreturn g(x)",
       "new(x)", "shared", "That is the usual case."),
    _f("cache dtype", "return g(x)",
       'if kv_cache_dtype == "nvfp4":\n    return new(x)\nreturn g(x)',
       "new(x)", "inert", "One dtype takes it."),
    _f("cache dtype is not", "return g(x)",
       'if kv_cache_dtype != "fp8_mla":\n    x = convert(x)\nreturn g(x)',
       "convert(x)", "shared", "All other dtypes convert now."),
    _f("model type", "y = g(x)\nreturn y",
       'y = g(x)\nif hf_config.model_type == "newmodel":\n    y = fix(y)\nreturn y',
       "fix(y)", "inert", "Other models do not come here."),
    _f("model in a list", "y = g(x)\nreturn y",
       'y = g(x)\nif config.model_type in ("a", "b"):\n    y = fix(y)\nreturn y',
       "fix(y)", "inert", "Other models do not come here."),
    _f("list of models grows",
       'if config.model_type in ("a", "b"):\n    return fix(x)\nreturn g(x)',
       'if config.model_type in ("a", "b", "c"):\n    return fix(x)\nreturn g(x)',
       '"c"', "inert", "Only the new model takes the branch."),
    _f("tuple of capabilities", "if cap.major == 10:\n    return b()\nreturn g(x)",
       "if device_capability.major in (10, 12):\n    return b()\nreturn g(x)",
       "(10, 12)", "gated", "What it was asked of is another name now."),
    _f("probe", "return g(x)",
       "if has_deep_kernels():\n    return new(x)\nreturn g(x)",
       "new(x)", "inert", "Without the library nothing changes."),
    _f("probe of an object", "return g(x)",
       "if holder.has_tracked():\n    return new(x)\nreturn g(x)",
       "new(x)", "shared", "That is not a probe of the machine."),
    _f("probe with an argument", "return g(x)",
       "if supports_images(layer):\n    return new(x)\nreturn g(x)",
       "new(x)", "gated", "It asks about the model at hand."),
    _f("platform", "return g(x)",
       "if current_platform.is_cuda():\n    return new(x)\nreturn g(x)",
       "new(x)", "gated", "Nearly everybody is in."),
    _f("platform and capability", "return g(x)",
       "if current_platform.is_cuda() and is_sm120():\n    return new(x)\nreturn g(x)",
       "new(x)", "inert", "The second part keeps others out."),
    _f("platform without cuda", "return g(x)",
       "if current_platform.is_rocm():\n    return new(x)\nreturn g(x)",
       "new(x)", "gated", "All of a platform is in."),
    _f("unknown condition", "return g(x)", "if x.big:\n    return new(x)\nreturn g(x)",
       "new(x)", "shared", "No gate."),
    _f("plain edit", "return g(x)", "return h(x)", "h(x)", "shared", "No gate."),
    _f("new argument", "return g(x)", "return g(x, fast=True)", "fast=True", "shared", "No gate."),
    _f("removed check", "assert x > 0\nreturn g(x)", "return g(x)", "-assert", "shared", "Gone."),
    _f("removed gated code", "if is_sm120():\n    x = old(x)\nreturn g(x)", "return g(x)",
       "-old(x)", "inert", "Others never ran it."),
    _f("edit in upstream's gate", "if is_sm120():\n    x = old(x)\nreturn g(x)",
       "if is_sm120():\n    x = new(x)\nreturn g(x)", "new(x)", "inert", "Others never ran it."),
    _f("comment", "return g(x)", "# why\nreturn g(x)  # so", "# so", "inert", "A comment."),
    _f("layout", "return g(x, 1)", "return g(\n    x,\n    1,\n)", "return g(", "inert",
       "Layout alone."),
    _f("try around a call", "g(x)", "try:\n    g(x)\nexcept E as e:\n    raise E(x) from e",
       "raise E", "shared", "Everybody goes through the try."),
    _f("conditional expression", "y = g(x)\nreturn y",
       "y = new(x) if is_sm120() else g(x)\nreturn y", "is_sm120()", "inert", "Others get g."),
    _f("conditional expression, other way", "y = g(x)\nreturn y",
       "y = g(x) if is_sm120() else h(x)\nreturn y", "else h(x)", "gated", "Others get h now."),
    _f("loop in a gate", "return g(x)",
       "if is_sm120():\n    for part in x:\n        new(part)\nreturn g(x)",
       "new(part)", "inert", "The loop is behind the gate."),
    _f("gate in a loop", "for part in x:\n    g(part)",
       "for part in x:\n    if is_sm120():\n        new(part)\n        continue\n    g(part)",
       "new(part)", "inert", "Others go on to g."),
    _f("nested gates", "return g(x)",
       'if config.model_type == "m":\n    if quant_algo == "q":\n        x = fix(x)\nreturn g(x)',
       "fix(x)", "inert", "Two gates."),
    _f("gate inside another condition", "if x.big:\n    h(x)\nreturn g(x)",
       "if x.big:\n    h(x)\n    if is_sm120():\n        new(x)\nreturn g(x)",
       "new(x)", "inert", "The inner gate counts."),
    _f("elif gate", "if x.a:\n    return a(x)\nreturn g(x)",
       "if x.a:\n    return a(x)\nelif is_sm120():\n    return new(x)\nreturn g(x)",
       "new(x)", "inert", "Others fall through as before."),
    _f("wrapped old code", "y = g(x)\nreturn y",
       "if is_sm120():\n    y = new(x)\nelse:\n    y = g(x)\nreturn y",
       "y = new(x)", "inert", "Others run the old line, one step in."),
    _f("variable read elsewhere", "y = g(x)\nreturn y",
       "extra = new(x)\ny = g(x)\nif is_sm120():\n    y = extra\nreturn y",
       "extra = new(x)", "shared", "Everybody makes the extra."),
    _f("attribute from environment", "y = g(x)\nreturn y",
       'flag = os.environ.get("APP_X")\ny = g(x)\n'
       "if flag is not None:\n    y = int(flag)\nreturn y",
       "int(flag)", "inert", "None unless it is set."),
    _f("comparison of two variables", "return g(x)",
       "if layer.quant_method == config.other:\n    return new(x)\nreturn g(x)",
       "new(x)", "gated", "Who is in is not known."),
    _f("raise for old hardware", "return g(x)",
       'if not is_sm120():\n    raise E("no")\nreturn g(x)',
       "raise E", "shared", "Everybody else fails now."),
    _f("literal set grows", "S = {A, B}\nreturn x in S", "S = {A, B, C}\nreturn x in S",
       "C}", "shared", "A member more is for all who have it."),
    Case("new function", "x = 1\n", "x = 1\n\n\ndef new():\n    return 2\n", "def new", "added",
         "Nobody calls it yet."),
    Case("new import", "import os\nx = os\n", "import os\nimport sys\nx = os\n", "import sys",
         "added", "A new name."),
    Case("new constant", "x = 1\n", "x = 1\nLIMIT = 2\n", "LIMIT", "added", "A new name."),
    Case("changed constant", "x = 1\n", "x = 2\n", "x = 2", "shared", "All read it."),
    Case("new method", "class A:\n    def f(self):\n        return 1\n",
         "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n",
         "def g", "added", "It runs where it is called."),
    Case("class by attribute flag", "class A:\n    def __init__(self):\n        self.x = 1\n\n"
         "    def f(self):\n        return g(self.x)\n",
         'class A:\n    def __init__(self):\n        self.x = 1\n        self._log = '
         'os.getenv("APP_LOG", "0") == "1"\n\n    def f(self):\n        if self._log:\n'
         "            log(self.x)\n        return g(self.x)\n",
         "log(self.x)", "gated", "A flag of the object, which anybody may set."),
    Case("entry of a table", 'T = {"a": 1}\n', 'T = {"a": 1, "b": 2}\n', '"b"', "added",
         "It counts for those who ask for it."),
    Case("argument with a default", "def f(a):\n    return a\n", "def f(a, b=0):\n    return a\n",
         "b=0", "shared", "The signature is everybody's."),
    Case("removed function", "def f():\n    return 1\n\n\ndef g():\n    return 2\n",
         "def f():\n    return 1\n", "-def g", "shared", "Others may call it."),
)  # fmt: skip
