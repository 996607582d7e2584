"""The `download` block of params.yaml: where each public file may come from and what it must be."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator
from pydantic.functional_validators import AfterValidator

from pondering.params.ranges import Model


def _inside(path: str) -> str:
    """Refuse a path that is not plainly inside the folder it is joined to."""
    climbs = ".." in PurePosixPath(path).parts
    if path in ("", ".") or path.startswith("/") or "\\" in path or climbs:
        raise ValueError("must be a relative path without '..'")
    return path


Url = Annotated[str, StringConstraints(pattern=r"^https?://[^\s]+$")]
Inside = Annotated[str, AfterValidator(_inside)]


class Source(Model):
    """One file: its places, and the size and sha256 of its unpacked bytes."""

    unpacked: Inside  # where it goes, below data/raw
    bytes: Annotated[int, Field(ge=1)]
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    urls: tuple[Url, ...]
    mirror: tuple[Inside, ...]  # names it may have below a mirror, packed or not
    cut: bool = False  # it is the beginning of a longer file: the rest is left away


class Download(Model):
    """The whole block: a mirror, the files of each data set, and which profile needs which."""

    mirror: str | None
    needs: dict[Literal["quick", "reduced", "paper"], tuple[str, ...]]
    files: dict[str, dict[str, Source]]

    @model_validator(mode="after")
    def _needs_are_known(self) -> Self:
        for profile, names in self.needs.items():
            for name in names:
                if name not in self.files:
                    allowed = ", ".join(self.files)
                    raise ValueError(f"needs.{profile}: no data set {name!r}; allowed: {allowed}")
        return self

    def needed(self, profile: str) -> tuple[Source, ...]:
        """The files a profile needs; none for a profile that `needs` does not list.

        Args:
            profile: its name, such as "reduced".

        Returns:
            the sources in the order of `needs`.
        """
        names = [name for key, wanted in self.needs.items() if key == profile for name in wanted]
        return tuple(file for name in names for file in self.files[name].values())
