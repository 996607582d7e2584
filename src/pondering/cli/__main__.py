"""The command `pondering`, also as `python -m pondering.cli`."""

from __future__ import annotations

import sys


def run() -> None:
    """Run the command; where the library alone is installed, say in a line what is missing.

    Raises:
        SystemExit: always; with status 2 where a package of the pipeline is missing.
    """
    try:
        from pondering.cli.main import main

        main(prog_name="pondering")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "pondering"):
            raise
        sys.stderr.write(f"error: {package} is missing: pip install 'pondering[pipeline]'\n")
        sys.exit(2)


if __name__ == "__main__":  # not where a stage is forked
    run()
