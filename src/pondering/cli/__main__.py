"""`python -m pondering.cli`: the command without an installed script."""

from pondering.cli.main import main

if __name__ == "__main__":  # not where a stage is forked
    main(prog_name="pondering")
