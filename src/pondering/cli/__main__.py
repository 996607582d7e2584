"""`python -m pondering.cli`: the command without an installed script."""

from pondering.cli.main import main

main(prog_name="pondering")
