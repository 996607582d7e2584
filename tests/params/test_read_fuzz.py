"""params.yaml under attack: any text, any document, any task field gives a value or one line."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import tiny
from support.refusals import what_a_user_sees

from pondering.params.read import load_params
from pondering.project.errors import UserError
from pondering.tasks import TASKS, make_task

REAL = Path(__file__).parents[2] / "params.yaml"


BROKEN = [
    "a: [1",
    "a: 1\na: 2",
    "- 1\n- 2",
    "",
    "5",
    "a: !!python/object:os.system x",
    'a: !!int ""',
    'a: !!float "x"',
    "a: 2001-13-45",
    "a: &x [*x]",
    "a: " + "[" * 1000,
    "\x00",
    "? {1: 2}\n: 3",
    '"a\\nb": 1',
    "\t- a",
]


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_file_gives_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        load_params(path)
    check_line(str(caught.value), path)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    with pytest.raises(UserError, match=r"no such file; run from the project's root"):
        load_params(path)
    path.write_bytes(b"profile: \xff\xfe")
    with pytest.raises(UserError, match="cannot be read"):
        load_params(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(UserError, match="cannot be read"):
        load_params(path)


ODD = ["", "a\nb", "\u2028", "\x1b[2J", "../x", "0.1", "1e-4", "yes"]
WORDS = st.sampled_from([*ODD, "tau", "act", "quick", "paper", "parity"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | WORDS
    | st.dates()
    | st.binary(max_size=3)
    | st.sampled_from(sorted(TASKS))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.integers(), inner),
    max_leaves=6,
)


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every key path of nested mappings and lists."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    found = [here] if here else []
    for key in keys:
        found += places(value[key], (*here, key))
    return found


def holder(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path[:-1]:
        value = value[key]
    return value


@st.composite
def mutations(draw: st.DrawFn) -> dict[str, Any]:
    """The tiny document with one to three of its places replaced, removed or added to."""
    values = tiny.document()
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places(values)))
        inside = holder(values, path)
        act = draw(st.sampled_from(["replace", "remove", "add"]))
        if act == "replace":
            inside[path[-1]] = draw(VALUES)
        elif act == "remove":
            del inside[path[-1]]
        elif isinstance(inside, dict):
            inside[draw(WORDS | st.integers())] = draw(VALUES)
        else:
            inside.append(draw(VALUES))
    return values


def check_line(message: str, *places: Any) -> None:
    assert len(message.splitlines()) == 1
    assert message.isprintable()
    assert len(message) < 600
    assert re.match("|".join(rf"{re.escape(str(place))}[:.] ?\S" for place in places), message)


def accepted_or_one_line(path: Path) -> None:
    """Nothing but one line may come out, of the tasks neither."""

    def check() -> None:
        for name, config in load_params(path).experiments.items():
            make_task(config.task, name)

    if (line := what_a_user_sees(check)) is not None:
        check_line(line, path, "params.yaml: tiny.task")


FUZZ = settings(
    max_examples=50,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@FUZZ
@given(values=mutations())
def test_any_document_is_accepted_or_refused_in_one_line(
    tmp_path: Path, values: dict[str, Any]
) -> None:
    accepted_or_one_line(tiny.write(tmp_path, values))


@FUZZ
@given(data=st.data())
def test_any_text_is_accepted_or_refused_in_one_line(tmp_path: Path, data: st.DataObject) -> None:
    """Bytes of the file changed, cut out, or doubled."""
    path = tiny.write(tmp_path, tiny.document())
    text = path.read_bytes()
    start = data.draw(st.integers(0, len(text)))
    end = min(len(text), start + data.draw(st.integers(0, 20)))
    new = data.draw(st.sampled_from([b"", text[start:end] * 2, b"\n", b"*a", b"&a ", b"? ", b"!!"]))
    new += data.draw(st.binary(max_size=2))
    path.write_bytes(text[:start] + new + text[end:])
    accepted_or_one_line(path)


TASK_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(-1e6, 1e6) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def task_blocks() -> dict[str, dict[str, Any]]:
    """One block of each task, as the quick profile has it."""
    experiments = load_params(REAL, "quick").experiments.values()
    blocks = {config.task["name"]: config.task for config in experiments}
    assert set(blocks) == set(TASKS)
    return blocks


@settings(max_examples=300, deadline=None, derandomize=True)
@given(data=st.data())
def test_any_task_field_is_accepted_or_refused_in_one_line(
    task_blocks: dict[str, dict[str, Any]], data: st.DataObject
) -> None:
    values = copy.deepcopy(task_blocks[data.draw(st.sampled_from(sorted(task_blocks)))])
    fields = [path for path in places(values) if path != ("name",)]  # a word: the schema says so
    path = data.draw(st.sampled_from(fields))
    holder(values, path)[path[-1]] = data.draw(TASK_VALUES)
    if (line := what_a_user_sees(lambda: make_task(values, "tiny"))) is not None:
        check_line(line, "params.yaml: tiny.task")


@pytest.mark.parametrize("key", ["a\nb", "\x1b[2J"])
def test_a_key_that_would_move_the_cursor_is_shown_as_one_plain_line(
    task_blocks: dict[str, dict[str, Any]], key: str
) -> None:
    values = copy.deepcopy(task_blocks["parity"]) | {"test_nonzero": {key: None}}
    line = what_a_user_sees(lambda: make_task(values, "tiny"))
    assert line is not None and "None is not allowed" in line
    check_line(line, "params.yaml: tiny.task")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "parti"}, "task.name: 'parti'; allowed: parity, "),
        ({"bitz": 3}, "task.bitz: unknown key; allowed: bits, layout, "),
        ({"bits": "8"}, "task.bits: '8' is not allowed"),
        ({"layout": "left"}, "task.layout: 'left' is not allowed; leading or scattered is"),
        ({"train_nonzero": [1, 9]}, "task.train_nonzero: (1, 9) is not allowed"),
        ({"path": "x"}, "task.path: unknown key"),
    ],
)
def test_task_fields(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    values = tiny.config(tmp_path, task=change).task
    with pytest.raises(UserError) as caught:
        make_task(values, "tiny")
    message = str(caught.value)
    assert message.startswith("params.yaml: tiny.")
    assert said in message
    assert len(message.splitlines()) == 1


def test_a_task_field_left_out_is_named(tmp_path: Path) -> None:
    values = dict(tiny.config(tmp_path).task)
    del values["bits"]
    with pytest.raises(UserError, match=r"params\.yaml: tiny\.task: .*bits"):
        make_task(values, "tiny")
