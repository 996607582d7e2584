"""Wrong arguments of any command: one line with option, value and what is allowed, status 2."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.argv import EVERY, refused, run, shown


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is there to work on."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("shwo", "'shwo' did you mean 'show'?"),
        ("xyz", "'xyz' allowed: claims,"),
        ("--profile quick", "'--profile' --version, --help"),
        ("show parity --seeds 3", "'--seeds' '--seed'"),
        ("show --seed", "'--seed' requires an argument"),
        ("claims --root nowhere", "'--root' 'nowhere' does not exist"),
        ("claims --profiles quick", "'--profiles' '--profile' IDS, --profile, --root, --help"),
        ("track --root nowhere", "'--root' 'nowhere'"),
        ("ui --port many", "'--port' 'many' is not a valid integer"),
        ("ui --port 0", "'--port' 0 1<=x<=65535"),
        ("train.py", "'--profile' quick, reduced or paper"),
        (
            "train.py --profile quick --experiment x --mechanism acd",
            "'--mechanism' 'acd' 'repeat', 'act', 'pondernet'",
        ),
        ("train.py --profile quick --experiment x", "'--mechanism' repeat, act, pondernet"),
        ("screen.py", "'PLAN'"),
        ("screen.py params.yaml", "a plan lies at reports/PROFILE/search/NAME.yaml"),
        ("screen.py reports/quick/search/no.yaml", "reports/quick/search/no.yaml: no such file"),
    ],
)
def test_a_wrong_argument_is_one_line(words: str, said: str) -> None:
    line = refused(*words.split())
    place = 0
    for word in said.split():
        assert word in line[place:], line
        place = line.index(word, place)


def test_what_a_terminal_would_obey_is_not_repeated_to_it() -> None:
    line = refused("report", "a\nb\x1b[2J")  # where Click says a word as it is
    assert "(a b\N{REPLACEMENT CHARACTER}[2J)" in line and line[:-1].isprintable()


@pytest.mark.parametrize("name", EVERY)
def test_every_command_refuses_an_unknown_option_and_has_its_help(name: str) -> None:
    line = refused(name, "--no\nsuch\x1b[2J")
    assert line[:-1].isprintable()
    assert "Allowed: " in line and "--help" in line
    assert shown(name, "--help").startswith("Usage: ")


def test_without_a_command_there_is_help() -> None:
    assert "''" in refused("")
    assert shown() == shown("--help")


def test_a_file_in_the_way_of_tracking_is_one_line(tmp_path: Path) -> None:
    (tmp_path / ".tracking").write_text("in the way")
    result = run("track")
    assert result.exit_code == 1
    assert re.fullmatch(r"error: \S*\.tracking\S*: a file stands [^\n]+\n", result.stderr)
