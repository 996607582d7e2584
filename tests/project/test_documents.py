"""Files that git could not merge."""

from __future__ import annotations

from pathlib import Path

import pytest

from pondering.project.documents import read_text, read_yaml
from pondering.project.errors import UserError

MARKED = "a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> other\n"


@pytest.mark.parametrize("text", [MARKED, MARKED.partition("\n")[2]])
def test_marks_of_a_merge_are_one_line_with_a_way_out(tmp_path: Path, text: str) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(text)
    for read in (read_text, read_yaml):
        with pytest.raises(UserError, match="could not merge it") as caught:
            read(path)
        assert f"`git checkout HEAD -- {path}`" in str(caught.value)
    path.write_text("a: 1\n")
    assert (read_text(path), read_yaml(path)) == ("a: 1\n", {"a": 1})
