"""Answers `gh api` and `glab api` from a folder that has what the server knows."""

import json
import sys
from pathlib import Path
from typing import Any

OWN = {"repo": {"id": 1}}


def own(place: Path, name: str) -> list[Any]:
    """Return a list that the server has, empty unless there is one."""
    return json.loads((place / name).read_text()) if (place / name).exists() else []


def answer(place: Path, program: str, words: list[str], given: bytes) -> Any:
    method, path = words[2], words[3].partition("?")[0]
    sent = json.loads(given) if "--input" in words else {}
    with (place / "asked").open("a") as log:
        log.write(json.dumps([program, method, words[3], sent]) + "\n")
    if (place / "says").exists() and method in (place / "refuses").read_text():
        sys.exit((place / "says").read_text())
    pulls = json.loads((place / "pulls").read_text())
    last, is_gitlab = path.split("/")[-1], program == "glab"
    if last == "check-runs":
        return {}
    if last in ("files", "diffs"):
        return [{"filename": name, "new_path": name} for name in own(place, "files")]
    if "comments" in path or "notes" in path:
        said = own(place, "said")
        if method == "POST":
            said.append({"id": len(said), **sent})
        elif method != "GET":
            said[int(last)] |= sent
        (place / "said").write_text(json.dumps(said))
        return said
    if method == "POST":
        number = len(pulls) + 1
        address = f"https://example.org/pull/{number}"
        new: dict[str, Any] = {"head": OWN, "base": OWN, "number": number, "html_url": address}
        if is_gitlab:
            new = {
                "source_project_id": 1,
                "target_project_id": 1,
                "iid": number,
                "web_url": address,
            }
        pulls.append({"state": "opened" if is_gitlab else "open", **new})
    if method != "GET":
        found = pulls[-1] if method == "POST" else pulls[int(last) - 1]
        found |= {k: v for k, v in sent.items() if k not in ("head", "base")}
        found["state"] = "closed" if sent.get("state_event") == "close" else found["state"]
        (place / "pulls").write_text(json.dumps(pulls))
    branch = place.parent / "remote.git/refs/heads/patchmgr/sync-s"
    tip = branch.read_text().strip() if branch.exists() else ""
    head = {"ref": "patchmgr/sync-s", "sha": tip}
    rows = [
        {"source_branch": head["ref"], "sha": tip, **row}
        if is_gitlab
        else {**row, "head": {**head, **row["head"]}}
        for row in pulls
    ]
    if "state=all" in words[3]:
        rows = [row for row in rows if is_gitlab or row["head"]["ref"] == head["ref"]]
    return rows[::-1] if method == "GET" else rows[-1 if method == "POST" else int(last) - 1]


if __name__ == "__main__":
    print(json.dumps(answer(Path(sys.argv[1]), sys.argv[2], sys.argv[3:], sys.stdin.buffer.read())))
