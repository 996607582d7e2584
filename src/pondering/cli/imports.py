"""The code of each stage as one short file: what its script imports, with hashes.

A stage of dvc.yaml depends on that file, so that it runs again when its own code changes and not
when other code does, and no list of modules is kept by hand.
"""

from __future__ import annotations

from pathlib import Path

from pondering.params.mechanisms import MECHANISMS
from pondering.project import provenance
from pondering.project.atomic import sha256_file, write_json
from pondering.project.errors import UserError

STAGES = ("download", "datasets", "train", "evaluate", "report")
FOLDER = Path("data/imports")


def code_of(script: Path) -> dict[str, str]:
    """The script and all it imports from this package, by path below the root: their sha256.

    Templates count as code of the package that holds them, and the mechanisms' classes, which are
    imported by name, as code of whatever builds networks.
    """
    package = provenance.PACKAGE
    closure = provenance.import_closure([script])
    if package / "train/build.py" in closure:
        named = {file for each in MECHANISMS.values() for file in provenance.files_of(each.module)}
        closure = sorted({*closure, *named, *provenance.import_closure(named)})
    folders = {path.parent / "templates" for path in closure}
    code = [*closure, *(file for folder in folders for file in folder.glob("*") if file.is_file())]
    found = {f"src/{path.relative_to(package.parent)}": sha256_file(path) for path in code}
    return dict(sorted({f"pipeline/{script.name}": sha256_file(script), **found}.items()))


def write(root: Path) -> None:
    """Write data/imports/STAGE.json for every stage.

    Raises:
        UserError: a stage has no script.
    """
    for name in STAGES:
        script = root / "pipeline" / f"{name}.py"
        if not script.is_file():
            raise UserError(f"{script}: no such file; run from the project's root")
        write_json(root / FOLDER / f"{name}.json", code_of(script))
