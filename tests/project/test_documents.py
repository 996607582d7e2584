"""A file that git could not merge is refused as what it is: no YAML."""

from __future__ import annotations

from pathlib import Path

import pytest

from pondering.project.documents import read_yaml
from pondering.project.errors import UserError


def test_marks_of_a_merge_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_text("a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> other\n")
    with pytest.raises(UserError, match=r"params.yaml: not valid YAML: [^\n]*line 2[^\n]*$"):
        read_yaml(path)
