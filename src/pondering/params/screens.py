"""A screen of recipes as its plan writes it: one experiment, several arms, seeds of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pondering.params.mechanisms import MECHANISMS
from pondering.params.ranges import Count
from pondering.params.read import Params, deep_merge, load_params
from pondering.params.schema import ExperimentConfig
from pondering.project.documents import read_yaml
from pondering.project.errors import UserError


class Screen(BaseModel):
    """What is tried; see `read_screen`.

    Args:
        experiment: a name in `params.yaml`.
        settings: mechanism -> what it is swept over.
        seeds: none of a published run.
        updates, log_points: of every training.
        solved_below: the training error below which a network counts as solved.
        recipe: values in place of the experiment's in every arm, which later choices may change.
        arms: name -> values in place of these, as in `params.yaml`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    experiment: str
    settings: dict[str, list[Any]] = Field(min_length=1)
    seeds: list[Annotated[int, Field(ge=0, strict=True)]] = Field(min_length=1)
    updates: Count
    log_points: Count
    solved_below: float = Field(gt=0)
    recipe: dict[str, Any] = {}
    arms: dict[str, dict[str, Any]] = Field(min_length=1)

    def params(self, arm: str, profile: str, path: Path = Path("params.yaml")) -> Params:
        """The parameters of an arm: the profile's, with those of the screen, with the arm's own.

        Raises:
            UserError: one line with the value that is not allowed.
        """
        config = load_params(path, profile).experiment(self.experiment)
        self._refuse_published(config)
        blocks: dict[str, Any] = {
            name: {MECHANISMS[name].setting: each, "seeds": None}
            for name, each in self.settings.items()
        }
        training = {"updates": self.updates, "log_points": self.log_points}
        own = {"seeds": self.seeds, "training": training} | blocks
        over = {self.experiment: deep_merge(deep_merge(own, self.recipe), self.arms[arm])}
        try:
            return load_params(path, profile, over)
        except UserError as error:
            raise UserError(f"arm {arm!r}: {error}") from None

    def _refuse_published(self, config: ExperimentConfig) -> None:
        seeds = {seed for name in config.mechanisms for seed in config.seeds_of(name)}
        published = sorted(seeds.intersection(self.seeds))
        if published:
            named = ", ".join(map(str, published))
            raise UserError(f"seeds: {named} is not allowed; a seed of no published run is")
        unknown = [name for name in self.settings if name not in config.mechanisms]
        if unknown:
            known = ", ".join(config.mechanisms)
            raise UserError(f"settings.{unknown[0]}: unknown mechanism; allowed: {known}")


def read_screen(path: Path) -> Screen:
    """Read and check a plan.

    Raises:
        UserError: one line naming file, key and what is allowed.
    """
    try:
        return Screen.model_validate(read_yaml(path))
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the plan"
        raise UserError(f"{path}: {where}: {' '.join(first['msg'].split())}") from None
