"""What shards tell while they train: to MLflow, and to a bar on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import torch
from tqdm import tqdm

from pondering.train import kernels
from pondering.train.shard import Shard
from pondering.train.trainer import Row

LINE = "{desc}: {n_fmt} of {total_fmt} updates, {remaining} left{postfix}\n"
SHOWN = ("loss", "error", "ponder_time")  # columns; the bar has means over the shard's replicas


class News:
    """Takes what the shards of an experiment tell; says first why some have no kernels on a GPU.

    Where there is no terminal, the bar is a line every half minute.

    Args:
        listen: gets all curve rows.
    """

    def __init__(self, shards: Sequence[Shard], listen: Callable[[list[Row]], None]) -> None:
        self._shards, self._listen = shards, listen
        self._updates: dict[int, int] = {}
        self._at_pace = set[int]()  # shards that are beyond their first block
        self._label = f"{shards[0].params.profile} {shards[0].experiment}"
        for one in {each.mechanism: each for each in shards}.values():
            wanted = one.device.type == "cuda" and one.params.compute.path == "auto"
            if wanted and (why := kernels.missing(one.config, one.mechanism, one.device)):
                said = f"{one.experiment} {one.mechanism}: {why}; it trains by torch's own calls"
                print(said, flush=True)
        terminal = sys.stderr.isatty()
        self.bar = tqdm(
            total=sum(shard.updates for shard in shards),
            desc=self._label,
            unit=" updates",
            leave=not terminal,
            file=sys.stderr if terminal else sys.stdout,
            mininterval=1 if terminal else 30,
            miniters=1,
            delay=1,
            bar_format=None if terminal else LINE,
        )

    def tell(self, shard: int, update: int, rows: list[Row]) -> None:
        """A shard has come to an update, with new curve rows.

        Its first news is where it starts, its second the end of its first block.
        """
        one, before = self._shards[shard], self._updates.get(shard)
        done = update - (before or 0)
        if before is None and update:
            print(f"{self._label} {one.mechanism}: going on from update {update:,}", flush=True)
        self._updates[shard] = update
        self._listen(rows)
        if now := [row for row in rows if row["update"] == update]:
            columns = {name: torch.tensor([row[name] for row in now]) for name in SHOWN}
            means = {name: float(each.nanmean()) for name, each in columns.items()}
            self.bar.set_postfix(means, refresh=False)
        if shard in self._at_pace:
            self.bar.update(done)
            return
        # Done before, or while loops were compiled: they say nothing of the pace.
        self.bar.n += done
        self.bar.initial += done
        self.bar.last_print_n += done
        if before is not None:
            if not self._at_pace:
                self.bar.unpause()  # the clock starts at the end of the first block of all
            self._at_pace.add(shard)
