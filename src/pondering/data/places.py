"""Where a public file may be found, and how a message names those places."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from pondering.params.downloads import Source
from pondering.project.errors import UserError

MIRROR_VARIABLE = "PONDERING_MIRROR"


def chosen_mirror(parameter: str | None) -> str | None:
    """The mirror in force: the environment variable PONDERING_MIRROR, else the parameter."""
    return os.environ.get(MIRROR_VARIABLE) or parameter


def places(source: Source, raw: Path, mirror: str | None) -> Iterator[str | Path]:
    """What to try, in order: packed files put into `raw` by hand, the mirror, each url.

    Args:
        source: the file that is looked for.
        raw: the folder of unpacked files, data/raw.
        mirror: a folder, an http(s) url, or None.

    Returns:
        paths, which may be missing, and urls.

    Raises:
        UserError: the mirror is of another kind.
    """
    for name in source.mirror:
        if name != source.unpacked and (raw / name).is_file():
            yield raw / name
    if mirror and re.match(r"https?://", mirror):
        # Not urlsplit at once: a url too odd to split is still tried, fails and is reported.
        base, _, query = mirror.partition("?")
        for name in source.mirror:
            yield f"{base.rstrip('/')}/{name}" + (f"?{query}" if query else "")
    elif mirror:
        if "://" in mirror and not mirror.startswith("file://"):
            raise UserError(
                f"{MIRROR_VARIABLE} or download.mirror: {shown(mirror)} is no mirror; "
                "allowed: a folder or an http(s) url"
            )
        folder = Path(unquote(mirror[7:]) if mirror.startswith("file://") else mirror)
        for name in source.mirror:
            yield folder.expanduser() / name
    yield from source.urls


def shown(place: str | Path) -> str:
    """A place as messages may print it: urls without user, password, query and fragment."""
    if isinstance(place, Path):
        return str(place)
    try:
        parts = urlsplit(place)
        port = f":{parts.port}" if parts.port else ""
        return urlunsplit((parts.scheme, f"{parts.hostname or ''}{port}", parts.path, "", ""))
    except ValueError:
        return "(an unreadable url)"


def nowhere(source: Source, target: Path, tried: Sequence[str]) -> UserError:
    """The one line for a file that no place gave: what was tried, and the three ways out."""
    packed = source.mirror[0] if source.mirror else source.unpacked
    return UserError(
        f"{source.unpacked}: no place gave this file; tried {'; '.join(tried) or 'nothing'}; three "
        f"ways out: set {MIRROR_VARIABLE} to a folder that holds {packed}, or to the http(s) url "
        f"of such a folder, or put the unpacked file ({source.bytes:,} bytes, sha256 "
        f"{source.sha256}) at {target} by hand"
    )
