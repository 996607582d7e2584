"""Every published table, curve and search says where it comes from; what does not is named here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.stages import ROOT

from pondering.params.read import PROFILES

KEYS = {"commit", "params_hash", "data_hash", "device", "versions", "wall_seconds"}
UNRECORDED = {  # made before such records were kept, and not made again since
    "reduced/search": {
        "addition-act", "logic-act", "parity-act", "parity_scattered-act", "sort-act",
        "wikipedia-act",
    },
}  # fmt: skip


def published(profile: str, kind: str) -> list[Path]:
    return sorted((ROOT / "reports" / profile / kind).rglob("*.csv"))


@pytest.mark.parametrize("kind", ["tables", "curves", "search"])
@pytest.mark.parametrize("profile", PROFILES)
def test_each_has_a_whole_record_but_those_named(profile: str, kind: str) -> None:
    missing, paths = set(), published(profile, kind)
    assert paths or profile != "reduced"
    for path in paths:
        home = ROOT / "reports" / profile
        place = (path.relative_to(home / kind)).with_suffix(".json")
        record = home / ("search" if kind == "search" else "provenance") / place
        if record.is_file():
            content = json.loads(record.read_text())
            for part in content.get("parts", {"the whole": content}).values():
                assert part.keys() >= KEYS, record
        else:
            missing.add(path.stem)
    assert missing == UNRECORDED.get(f"{profile}/{kind}", set())
