"""What others see of the project: CI's workflow, the pages it publishes, version and licence."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from ruamel.yaml import YAML
from stages import ROOT

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


def test_the_workflow_publishes_the_reports_after_ci() -> None:
    uploads = [step for step in steps("uses") if "upload-pages-artifact" in step["uses"]]
    assert [step["with"]["path"] for step in uploads] == ["reports"]
    assert any("deploy-pages" in step["uses"] for step in steps("uses"))
    pages = WORKFLOW["jobs"]["pages"]
    assert pages["needs"] == "test"
    assert pages["permissions"].items() >= {("pages", "write"), ("id-token", "write")}
    assert (ROOT / "reports/index.html").is_file()


def test_the_changelog_begins_with_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    newest = re.search(r"^## (\S+), \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest and newest[1] == version


def test_the_licence_is_mit() -> None:
    text = " ".join((ROOT / "LICENSE").read_text().split())
    assert text.startswith("MIT License Copyright (c) ")
    assert "Permission is hereby granted, free of charge, to any person obtaining a copy" in text
    assert "WITHOUT WARRANTY OF ANY KIND" in text
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == "MIT"
    assert re.search(r"^license: MIT$", (ROOT / "CITATION.cff").read_text(), re.M)
