"""The `download` block of params.yaml: where each public file may come from and what it must be."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, NamedTuple, Self

from pydantic import Field, model_validator

from pondering.params.ranges import Count, Model


class Source(NamedTuple):
    """One file: its places, and the size and sha256 of its unpacked bytes."""

    unpacked: str  # where it goes, below data/raw
    bytes: int
    sha256: str
    urls: tuple[str, ...]
    mirror: tuple[str, ...]  # names it may have below a mirror, packed or not
    cut: bool = False  # it is the beginning of a longer file: the rest is left away


class File(Model):
    """What an unpacked file must be."""

    bytes: Count
    sha256: str


class DataSet(Model):
    """Files that come from the same places; {} in a place stands for a file's name."""

    urls: tuple[str, ...]
    mirror: Annotated[tuple[str, ...], Field(min_length=1)]
    cut: bool = False  # as in `Source`
    files: dict[str, File]  # by their paths below data/raw

    def sources(self) -> tuple[Source, ...]:
        """Its files, each with its own places."""
        found = []
        for path, file in self.files.items():
            name = PurePosixPath(path).name
            urls, mirror = (
                tuple(place.replace("{}", name) for place in places)
                for places in (self.urls, self.mirror)
            )
            found.append(Source(path, file.bytes, file.sha256, urls, mirror, self.cut))
        return tuple(found)


class Download(Model):
    """The whole block: a mirror, which profile needs which data sets, and their files."""

    mirror: str | None
    needs: dict[str, tuple[str, ...]]
    sets: dict[str, DataSet]

    @model_validator(mode="after")
    def _needs_are_sets(self) -> Self:
        for profile, names in self.needs.items():
            if unknown := {*names} - {*self.sets}:
                raise ValueError(f"needs.{profile}: {', '.join(unknown)} is no set")
        return self

    def needed(self, profile: str, folder: str) -> tuple[Source, ...]:
        """The files below `folder` that a profile needs, in the order of `needs`."""
        found = (each for name in self.needs.get(profile, ()) for each in self.sets[name].sources())
        return tuple(each for each in found if each.unpacked.startswith(f"{folder}/"))
