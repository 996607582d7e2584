"""What others see of the project: CI's workflow, the pages it publishes, version and licence."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from support.stages import ROOT

(PATH,) = (ROOT / ".github/workflows").glob("*.yml")
WORKFLOW = YAML(typ="safe").load(PATH)


def steps(key: str) -> list[dict[str, Any]]:
    """The steps of all jobs that have a key."""
    return [step for job in WORKFLOW["jobs"].values() for step in job["steps"] if key in step]


def test_the_workflow_runs_all_of_ci() -> None:
    runs = [step["run"] for step in steps("run") if re.search(r"(^|\s)\.ci/run$", step["run"])]
    assert len(runs) == 1
    assert (ROOT / ".ci/run").read_text().startswith("#!/usr/bin/env bash")
    assert {"push", "pull_request"} <= WORKFLOW["on"].keys()


@pytest.mark.parametrize(("allowed", "status"), [("60", 0), ("1", 1)])
def test_ci_bounds_the_suites_time(tmp_path: Path, allowed: str, status: int) -> None:
    """With a `make test` of three seconds in place of the real one."""
    for name, text in {
        ".ci/run": (ROOT / ".ci/run").read_text(),
        "bin/make": '#!/bin/sh\n[ "$1" = test ] && sleep 3\nexit 0\n',
        "bin/chromium": "#!/bin/sh\n",
        "bin/git": "#!/bin/sh\n",
        ".venv/bin/dvc": "#!/bin/sh\necho 'Data and pipelines are up to date'\n",
        ".venv/bin/pondering": "#!/bin/sh\n",
        ".venv/bin/python": "#!/bin/sh\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    words = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "PONDERING_TEST_SECONDS": allowed}
    command = ["bash", str(tmp_path / ".ci/run")]
    done = subprocess.run(command, env=os.environ | words, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    (took,) = re.findall(rf"^ci: make test took (\d+) seconds, {allowed} are", done.stdout, re.M)
    assert 2 <= int(took) < 30
    assert ("ci: the suite is too slow" in done.stdout) == (status == 1)
    assert ("ci: all passed" in done.stdout) == (status == 0)


def test_the_workflow_publishes_the_reports_after_ci() -> None:
    uploads = [step for step in steps("uses") if "upload-pages-artifact" in step["uses"]]
    assert [step["with"]["path"] for step in uploads] == ["reports"]
    assert any("deploy-pages" in step["uses"] for step in steps("uses"))
    pages = WORKFLOW["jobs"]["pages"]
    assert pages["needs"] == "test"
    assert pages["permissions"].items() >= {("pages", "write"), ("id-token", "write")}
    assert (ROOT / "reports/index.html").is_file()


def test_changelog_and_citation_are_of_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    newest = re.search(r"^## (\S+), \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest and newest[1] == version
    cited = YAML(typ="safe").load(ROOT / "CITATION.cff")
    assert cited["version"] == version
    assert {"cff-version", "title", "message", "authors"} <= cited.keys()


def test_what_checks_a_commit_is_what_the_tests_ask_for() -> None:
    (repository,) = YAML(typ="safe").load(ROOT / ".pre-commit-config.yaml")["repos"]
    makefile = (ROOT / "Makefile").read_text()
    for hook in repository["hooks"]:
        command = hook["entry"].removeprefix(".venv/bin/")
        assert f"@{command}" in makefile, "a hook that `make test` does not run"
