"""The word lists that come with the program, and what a series adds to them."""

from patchmgr.commands.report import words_of
from tests.tables import table


@table(
    ("upstream", "kinds"),
    [
        (
            "vllm",
            {"hf_config": "model", "kv_cache_dtype": "quantisation", "is_sm120": "capability"},
        ),
        ("flashinfer", {"hf_config": None, "use_fp8": "quantisation", "is_cuda": "platform"}),
        ("deepgemm", {"kv_cache_dtype": None, "is_sm120": "capability", "getenv": "environment"}),
        ("another", {"hf_config": "model", "kv_cache_dtype": "quantisation"}),
    ],
)
def test_names_are_gates_of_their_own_upstream(upstream: str, kinds: dict[str, str | None]) -> None:
    words = words_of(upstream, {})
    assert {name: words.kind(name) for name in kinds} == kinds


def test_a_series_own_names_come_first() -> None:
    words = words_of("vllm", {"option": ["b12x_.*", "is_sm120"]})
    assert [words.kind(name) for name in ("b12x_on", "is_sm120", "is_sm90")] == [
        "option", "option", "capability",
    ]  # fmt: skip
    assert words.is_own("b12x_on") and not words.is_own("is_sm90")


def test_only_cxx_has_build_flags() -> None:
    words = words_of("flashinfer", {})
    assert words.kind("ENABLE_X") is None
    assert words.of_cxx().kind("ENABLE_X") == "build flag"
    assert words.of_cxx().is_flag("__gfx90a__")
