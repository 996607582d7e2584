"""Stage `download`: bring the public files that a profile needs below data/raw."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.stage import Command, stage


@click.command(cls=Command)
@click.option("--profile", required=True, help="The profile whose files are needed.")
def main(profile: str) -> None:
    """Fetch what PROFILE needs, and list it with its sha256 in data/raw/PROFILE/files.json."""
    with stage():  # imports take seconds: Ctrl-C may come among them
        from pondering.config import load_params
        from pondering.download import fetch_all
        from pondering.files import write_json
        from pondering.layout import Layout
        from pondering.places import chosen_mirror

        download = load_params(Path("params.yaml"), profile).download
        raw = Layout(Path(), profile).raw
        mirror = chosen_mirror(download.mirror)
        files = fetch_all(
            download.needed(profile), raw, mirror, say=lambda line: click.echo(line, err=True)
        )
        write_json(raw / "files.json", files)
        click.echo(f"download: {len(files)} files for {profile} are in {raw}")


if __name__ == "__main__":
    main()
