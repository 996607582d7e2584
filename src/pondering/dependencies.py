"""Keep dvc.yaml honest: the code a stage depends on is what its script imports, no more or less."""

from __future__ import annotations

import io
from pathlib import Path

from ruamel.yaml import YAML

from pondering import provenance
from pondering.errors import UserError
from pondering.files import atomic_write


def code_of(script: Path) -> list[str]:
    """The files a stage script imports from this package, relative to the project's root."""
    package = provenance.PACKAGE
    return [f"src/{path.relative_to(package.parent)}" for path in _all_code(script, package)]


def _all_code(script: Path, package: Path) -> list[Path]:
    """Imported modules; templates count as code of the package that holds them."""
    closure = provenance.import_closure([script])
    folders = {path.parent for path in closure if path.parent.joinpath("templates").is_dir()}
    return sorted([*closure, *(folder / "templates" for folder in folders)])


def sync(root: Path) -> bool:
    """Rewrite the code dependencies of every stage in dvc.yaml; whether anything changed."""
    path = root / "dvc.yaml"
    yaml = YAML()
    yaml.width = 100
    yaml.indent(mapping=2, sequence=4, offset=2)
    try:
        document = yaml.load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run from the project's root") from None
    changed = False
    for name, stage in document["stages"].items():
        script = f"pipeline/{name}.py"
        others = [dep for dep in stage["deps"] if not str(dep).startswith(("src/", "pipeline/"))]
        wanted = [script, *code_of(root / script), *others]
        if list(stage["deps"]) != wanted:
            stage["deps"][:] = wanted
            changed = True
    if changed:
        text = io.StringIO()
        yaml.dump(document, text)
        atomic_write(path, text.getvalue())
    return changed
