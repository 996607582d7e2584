"""The benchmark's sums over processes, its clock, its counter and the table of aims."""

from __future__ import annotations

import os
import threading
from typing import Any

import pytest
import test_bench
import torch

FOLDER, bench = test_bench.FOLDER, test_bench.bench


def test_rates_are_summed_over_the_processes(bench: Any) -> None:
    span = bench["measure"].Span
    case = bench["cases"].TARGETS[0].case  # K = 16

    def part(stack: float, plain: float, until: float) -> dict[str, Any]:
        spans = {"stack": [span(stack, 0.0, until)], "plain": [span(plain, 0.0, 1.0)]}
        spans["matrix"] = [span(1e10, 0.0, 1.0)]
        same = {"drawing": 0.0, "ponder_mean": 2.0, "ponder_max": 2.0, "work": 1e8, "peak": 2**20}
        return {"spans": spans} | same

    parts = [part(10.0, 30.0, 1.0), part(30.0, 50.0, 0.5)]
    row = bench["totals"].total(case, parts)
    assert row["updates_per_s"]["median"] == 40 and row["run_updates_per_s"]["median"] == 640
    assert row["plain_updates_per_s"]["median"] == 80 and row["ratio"]["median"] == 8
    assert row["useful_share"]["median"] == pytest.approx(40 * 1e8 / 2e10)
    assert row["at_the_same_time"] == 0.5 and "ratio_alone" not in row
    for each, stack, plain in zip(parts, (20.0, None), (80.0, None), strict=True):
        alone = {"stack alone": stack, "plain alone": plain}
        each["spans"] |= {k: [span(v, 0.0, 1.0)] if v else [] for k, v in alone.items()}
    assert bench["totals"].total(case, parts)["ratio_alone"]["median"] == 4
    notes = [{"note": ""}, {"note": "too slow here"}]
    assert bench["totals"].total(case, notes) == {"note": "too slow here"}


def test_processes_work_at_the_same_time_and_none_waits_for_a_dead_one(bench: Any) -> None:
    together = bench["processes"].together

    def meet(number: int, gate: Any) -> dict[str, Any]:
        gate.wait(20)  # breaks, unless the others are there
        return {"number": number, "pid": os.getpid()}

    found = together(meet, 3)
    assert [each["number"] for each in found] == [0, 1, 2]
    assert len({each["pid"] for each in found} | {os.getpid()}) == 4

    def die(number: int, gate: Any) -> dict[str, Any]:
        if number:
            os._exit(9)
        try:
            gate.wait(20)
        except threading.BrokenBarrierError:
            return {"note": ""}
        return {}

    assert together(die, 2) == [{"note": ""}, {"note": "the process ended with status 9"}]


def test_a_clock_gives_time_to_the_inner_part(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([0.0, 1.0, 3.0, 7.0, 15.0, 31.0])
    monkeypatch.setattr(bench["parts"].time, "perf_counter", lambda: next(ticks))
    clock = bench["parts"].Clock()
    inner = clock.around("inner", lambda: None)
    clock.around("outer", lambda: inner())()
    clock.stop()
    assert dict(clock.seconds) == {"rest": 1 + 16, "outer": 2 + 8, "inner": 4}


def test_the_page_takes_the_table_of_a_result(bench: Any) -> None:
    text = (FOLDER.parent / "docs/speed.md").read_text()
    target = {"name": "parity", "wanted": "6x", "measured": "7x", "alone": "8x"}
    target |= {"at_full_rate": "9x", "largest_part": ""}
    gpu = target | {"name": "logic, on one GPU", "measured": "not measured"}
    other = gpu | {"name": "wikipedia, on one GPU"}
    result = {"targets": [target, gpu, other], "kind": "cpu", "processes": 2, "device": "A CPU"}
    measured = {"targets": [target | {"measured": "not measured"}, gpu | {"measured": "5x"}, other]}
    results = {"a-cpu": result, "a-gpu": measured | {"kind": "cuda", "device": "A GPU"}}
    once = bench["aims"].filled(text, results)
    row, end = "| parity | 6x | 7x | 8x | 9x |  |\n", "\n<!-- end of aims -->\n"
    assert f"{row}\nOn A GPU ([every row](../benchmarks/results/a-gpu.md)):\n" in once
    assert f"5x | 8x | 9x |  |\n\nNot measured: wikipedia, on one GPU.{end}" in once
    assert "On 2 cores, A CPU ([every row](../benchmarks/results/a-cpu.md)):" in once
    assert bench["aims"].filled(once, results) == once
    assert once.partition("<!-- aims -->")[0] == text.partition("<!-- aims -->")[0]


def test_launches_waits_and_bytes_are_counted(bench: Any) -> None:
    a, b = torch.rand(2, 8, 4)
    with bench["gpu_by_count"].Counter() as counter:
        c = a.view(4, 8) @ b  # a view is no launch
        c.T.add_(1.0)
        c.sum().item()
    assert counter.launches == 3 + 1 and counter.waits == 1  # the copy of the number is one
    numbers = (32 + 32 + 16) + (16 + 16) + (16 + 1) + 1
    assert counter.bytes == 4 * numbers
