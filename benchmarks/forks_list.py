"""The forks of docs/forks.md, and what of their lives is played."""

from __future__ import annotations

from msgspec import Struct

_VLLM = ("neuralmagic+vllm/repo", "017e9f4448b700e85ee16023287b025693c72b9e")
_DEEPGEMM = ("deepseek-ai+DeepGEMM/repo", "54e22612409371d6364144b69086735beb54e98b")


class Fork(Struct, frozen=True):
    """A fork: repository and commit, upstream's, which of its stops are played, how it began.

    `rebases` has the commits before and after each rebase of its line that was not a merge.
    """

    name: str
    repository: str
    tip: str
    upstream: tuple[str, ...]
    stops: tuple[int, int]
    way: str = "--first-parent"
    rebases: tuple[tuple[str, str], ...] = ()


_TENSTORRENT = "tenstorrent+vllm/repo"
_REBASED = (
    ("3aae81b59386f6fead4d1195b7a23a4665741c03", "409dbd77b1af5c26cbd5b047448cb6a8e9767a35"),
    ("739dcaa2915fa29d757c25a02c17aadce0c58055", "7cd620c9ecc5df422e4523bc6007ddee89ea8e7c"),
)
_HABANA = ("HabanaAI+vllm-fork/repo", "95af70093fc0dbb1a8b16d4a2913c674a02434ac")
FORKS = (
    Fork("HabanaAI/vllm-fork", *_HABANA, _VLLM, (0, 1)),
    Fork("HabanaAI/vllm-fork, begun as one patch", *_HABANA, _VLLM, (9, 13), "--squash"),
    Fork("local-inference-lab/vllm", "local-inference-lab+vllm/repo",
         "d037f7a61af2f04beef39b2216d79e574249cbd9", _VLLM, (0, 1)),
    Fork("tenstorrent/vllm", _TENSTORRENT,
         "b4dd0fa695bfe85a1f83068bb30dae4220e8334a", _VLLM, (0, 3),
         rebases=_REBASED),
    Fork("tenstorrent/vllm, begun as one patch", _TENSTORRENT,
         "b4dd0fa695bfe85a1f83068bb30dae4220e8334a", _VLLM, (3, 6), "--squash", _REBASED),
    Fork("tenstorrent/vllm, main", _TENSTORRENT,
         "f4b029385a6f1f9d2d25a11ad158cee644c3f8cd", _VLLM, (0, 2)),
    Fork("jinhuang12/vllm", "jinhuang12+vllm/repo",
         "22f8d28697322f81fd8bf47790cce714e84ce859",
         (*_VLLM, "2a69949bdadf0e8942b7a1619b229cb475beef20"), (0, 1)),
    Fork("jinhuang12/vllm, fused-moe-decode-optimizations", "jinhuang12+vllm/repo",
         "df4d109bc1edfffe779dbc12ef3b4f155d26da61", _VLLM, (0, 1)),
    Fork("DeepGEMM nv_dev", _DEEPGEMM[0],
         "a6b593d2826719dcf4892609af7b84ee23aaf32a", _DEEPGEMM, (1, 4)),
)  # fmt: skip
