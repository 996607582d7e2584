"""Compiles kernels for three generations of GPUs; no GPU is needed.

`python test_compiles.py 90`, without TRITON_INTERPRET, prints for compute capability 9.0 each
kernel's registers, stack, shared memory, atomics and barriers.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

HIDDEN = 128
PARITY = {"T": 1, "D": 64, "W": HIDDEN, "R": 32, "PADDED": 128}  # as in the papers
LOGIC = {"T": 10, "D": 102, "W": 4 * HIDDEN, "R": 16, "PADDED": 16}
INTEGERS = {"slot", "max_steps", "moments", "seeds", "B"}
FLOATS = {"epsilon", "clip", "beta1", "beta2", "tiny"}
POINTERS = {
    "todo": "*i32", "places": "*i32", "deepest": "*i32", "begins": "*i32", "reverses": "*i32",
    "alive": "*u8", "diverged": "*u8", "window": "*fp64", "computed_steps": "*fp64",
}  # fmt: skip


def compile_kernel(kernel: Any, constants: dict[str, Any], warps: int, capability: int) -> Any:
    """A kernel compiled for a compute capability, such as 90."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    constexprs = {name: constants[name] for name in kernel.arg_names if name in constants}
    types = dict.fromkeys(kernel.arg_names, "*fp32") | dict.fromkeys(INTEGERS, "i32")
    types |= dict.fromkeys(FLOATS, "fp32") | POINTERS | dict.fromkeys(constexprs, "constexpr")
    signature = {name: types[name] for name in kernel.arg_names}
    pointers = [i for i, name in enumerate(kernel.arg_names) if signature[name][0] == "*"]
    # Memory of torch begins at multiples of 16 bytes, which a launch would find out.
    aligned = {(i,): [["tt.divisibility", 16]] for i in pointers}
    source = ASTSource(fn=kernel, signature=signature, constexprs=constexprs, attrs=aligned)
    target = GPUTarget("cuda", capability, 32)
    return triton.compile(source, target=target, options={"num_warps": warps})


def resources(code: Any) -> dict[str, int]:
    """Registers and bytes of stack of a thread, bytes of shared memory of a program."""
    import triton

    tool = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(code.asm["cubin"])
        file.flush()
        text = subprocess.run(
            [tool, "-res-usage", file.name], capture_output=True, text=True, check=True
        ).stdout
    found = re.search(r"REG:(\d+) STACK:(\d+)", text)
    assert found
    return {
        "registers": int(found[1]),
        "stack": int(found[2]),
        "shared": code.metadata.shared,
    }


LABEL = re.compile(r"(\$L\w+):")
BRANCH = re.compile(r"(@!?%p\d+\s+)?bra(?:\.uni)?\s+(\$L\w+);")
STORE = re.compile(r"\bst\.global")
LOAD = re.compile(r"\bld\.global|\bcp\.async\.(?:c[ag]|bulk)\.")


def loads_behind_stores(ptx: str) -> list[str]:
    """Loads that some path through the code reaches after a store without a barrier.

    Such a load may read memory that another thread has not written yet.
    """
    lines = [line.strip() for line in ptx.splitlines()]
    labels = {found[1]: i for i, line in enumerate(lines) if (found := LABEL.match(line))}
    begin = next(i for i, line in enumerate(lines) if line == "{")
    wrong, visited, waiting = set(), set(), [(begin + 1, False)]
    while waiting:
        at, stored = waiting.pop()
        while (at, stored) not in visited:
            visited.add((at, stored))
            line = lines[at]
            if branch := BRANCH.match(line):
                waiting.append((labels[branch[2]], stored))
            if (branch and not branch[1]) or line == "ret;":
                break
            if "bar.sync" in line:
                stored = False
            elif LOAD.search(line) and stored:
                wrong.add(line)
            stored |= bool(STORE.search(line))
            at += 1
    return sorted(wrong)


def constants(task: dict[str, int]) -> dict[str, Any]:
    """The constants of `kernels.update.Updates` for a task's sizes."""
    width, size, chunks = task["W"], task["D"], task["PADDED"] // task["R"]
    matrices, vectors = width * (HIDDEN + size), 2 * width + 2 * HIDDEN + 4
    return task | {
        "H": HIDDEN, "CHUNKS": chunks, "PARTS": chunks * task["T"], "P": matrices + vectors,
        "G": matrices, "V": vectors, "TILE": 32, "BM": 64, "BN": 64, "BP": 1024,
    }  # fmt: skip


def main(capability: int) -> None:
    """Print each kernel's resources as JSON."""
    from pondering.model.paths.kernels import act, adam, gradient, lstm, pondernet

    kernels = {
        "act": (act.rows, PARITY, {"ACT": True}, 8),
        "repeat": (act.rows, PARITY, {"ACT": False}, 8),
        "pondernet": (pondernet.rows, PARITY, {}, 8),
        "matrices": (gradient.matrices, PARITY, {}, 4),
        "adam": (adam.adam, PARITY, {}, 8),
        "lstm": (lstm.rows, LOGIC, {"ACT": True}, 8),
        "lstm_repeat": (lstm.rows, LOGIC, {"ACT": False}, 8),
        "lstm_matrices": (gradient.matrices, LOGIC, {}, 4),
        "lstm_adam": (adam.adam, LOGIC, {}, 8),
    }
    found: dict[str, Any] = {}
    for name, (kernel, task, more, warps) in kernels.items():
        code = compile_kernel(kernel, constants(task) | more, warps, capability)
        ptx = code.asm["ptx"]
        found[name] = resources(code) | {
            "atomics": re.findall(r"\b(?:atom|red)\.\S+", ptx),
            "barriers": ptx.count("bar.sync"),
            "loads_behind_stores": loads_behind_stores(ptx),
        }
    print(json.dumps(found))


REGISTERS, STACK, SHARED = 255, 64, 48 * 1024  # of a thread, in bytes of a thread, of a program
ALONE = ("adam", "lstm_adam")  # each thread reads back only numbers that it wrote


@pytest.fixture(scope="module", params=[80, 90, 100])
def kernels(request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    """What `main` prints, in a process where Triton compiles."""
    environment = {n: v for n, v in os.environ.items() if n != "TRITON_INTERPRET"}
    command = [sys.executable, __file__, str(request.param)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


def test_registers_and_memory_suffice(kernels: dict[str, dict[str, Any]]) -> None:
    for name, found in kernels.items():
        assert found["registers"] <= REGISTERS, (name, found)
        assert found["stack"] <= STACK, (name, found)
        assert found["shared"] <= SHARED, (name, found)


def test_no_kernel_uses_atomics(kernels: dict[str, dict[str, Any]]) -> None:
    assert {name: found["atomics"] for name, found in kernels.items()} == {n: [] for n in kernels}


def test_no_load_follows_a_store_without_a_barrier(
    kernels: dict[str, dict[str, Any]],
) -> None:
    for name in kernels.keys() - set(ALONE):
        assert kernels[name]["loads_behind_stores"] == [], name


def test_a_missing_barrier_is_found() -> None:
    ptx = "{\n$L1:\n%s\nld.global.b32 %%r1;\nst.global.b32 %%r1;\n@%%p1 bra $L1;\nret;\n}"
    assert loads_behind_stores(ptx % "bar.sync 0;") == []
    assert loads_behind_stores(ptx % "") == ["ld.global.b32 %r1;"]


if __name__ == "__main__":
    main(int(sys.argv[1]))
