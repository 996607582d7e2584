"""Stage `download`: bring the public files that a profile needs of some data below data/raw."""

from __future__ import annotations

import click

from pondering.project.command import stage


@click.command()
@click.option("--profile", required=True, help="The profile whose files are needed.")
@click.option("--data", required=True, help="Which of them: those below this folder.")
def main(profile: str, data: str) -> None:
    """Fetch what PROFILE needs of DATA; list it in data/raw/PROFILE/DATA/files.json."""
    with stage():  # imports take seconds; stage() handles Ctrl-C during them
        from pondering.data.fetch import fetch_all
        from pondering.params.read import load_params
        from pondering.project.atomic import atomic_write, json_text

        params = load_params(profile=profile)
        download, raw = params.download, params.layout.raw
        needed = download.needed(profile, data)
        files = fetch_all(needed, raw, download.mirror, say=lambda line: click.echo(line, err=True))
        atomic_write(raw / data / "files.json", json_text(files))


if __name__ == "__main__":
    main()
