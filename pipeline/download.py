"""Stage `download`: bring the public files that a profile needs below data/raw."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.project.command import stage


@click.command()
@click.option("--profile", required=True, help="The profile whose files are needed.")
def main(profile: str) -> None:
    """Fetch what PROFILE needs, and list it with its sha256 in data/raw/PROFILE/files.json."""
    with stage():  # imports take seconds; stage() handles Ctrl-C during them
        from pondering.data.fetch import chosen_mirror, fetch_all
        from pondering.params.read import load_params
        from pondering.project.atomic import write_json
        from pondering.project.paths import Layout

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
