"""The stages of dvc.yaml beside the experiments of params.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pondering.params.schema import Params
from pondering.project.documents import read_yaml
from pondering.project.errors import UserError


def check_trainings(root: Path, params: Params) -> None:
    """Refuse a block of a mechanism without a stage, and a stage without a block.

    DVC makes stages of lists that it finds written out, so dvc.yaml names each training again. A
    project whose scripts run without DVC has no such file, and nothing is compared.

    Raises:
        UserError: one line with the one to be added, or with the one that fits nothing.
    """
    path = root / "dvc.yaml"
    if not path.is_file():
        return
    wanted = {
        f"${{profile}}-{name}-{mechanism}": {"experiment": name, "mechanism": mechanism}
        for name, config in params.experiments.items()
        for mechanism in config.mechanisms
    }
    there: dict[str, Any] = read_yaml(path)["stages"]["train"]["foreach"]
    for line, item in there.items():
        if wanted.get(line) != item:
            raise UserError(
                f"dvc.yaml: train: {line!r}: no experiment of params.yaml has such a block in "
                f"profile {params.profile}"
            )
    for line, item in wanted.items():
        if line not in there:
            values = ", ".join(f"{key}: {name}" for key, name in item.items())
            raise UserError(
                f"params.yaml: {item['experiment']}.{item['mechanism']}: is trained by no stage; "
                f"add to `train` in dvc.yaml the line `{line}: {{{values}}}`"
            )
