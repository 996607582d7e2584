"""Every published table, curve and search has a provenance record, except those named here."""

from __future__ import annotations

import json

import pytest
from support.stages import ROOT

from pondering.params.read import PROFILES

KEYS = {"commit", "params_hash", "data_hash", "device", "versions", "wall_seconds"}
UNRECORDED = {  # made before there were records
    "reduced/search": {
        "addition-act", "logic-act", "parity-act", "parity_scattered-act", "sort-act",
        "wikipedia-act",
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", ["tables", "curves", "search"])
@pytest.mark.parametrize("profile", PROFILES)
def test_every_published_file_has_a_complete_record(profile: str, kind: str) -> None:
    missing, paths = set(), sorted((ROOT / "reports" / profile / kind).rglob("*.csv"))
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
