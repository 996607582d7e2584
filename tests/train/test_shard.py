"""A shard from its start to the files of its replicas."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from support import tiny

from pondering.project.errors import UserError
from pondering.train import shard
from pondering.train.replica import file_of, read


@pytest.mark.parametrize("mechanism", ["certainty", "dact"])
def test_a_mechanism_that_does_not_fit_the_loss_is_refused(tmp_path: Path, mechanism: str) -> None:
    tiny.write(tmp_path, tiny.document(**tiny.BEYOND, task=tiny.SUMS))
    params = tiny.freeze_all(tmp_path)
    with pytest.raises(UserError, match=r"^addition: .* is not allowed; the cross entropy of one"):
        shard.train(tiny.shard(params, mechanism), lambda *news: None)


def test_each_replica_gets_its_part_of_a_finished_shard(tmp_path: Path) -> None:
    """Replica 1 stops after the second of ten logging points, replica 2 diverges after it."""
    tiny.write(tmp_path, tiny.document())
    one = tiny.shard(tiny.freeze_all(tmp_path))
    trainer = tiny.train(one.trainer(), 6)
    trainer.alive[1] = False
    with torch.no_grad():
        trainer.parameters["heads.bias"][2] = torch.nan
    tiny.train(trainer).seconds = 10.0
    shard.finish(one, trainer)
    for k, sha256 in enumerate(one.replicas):
        done = read(file_of(tmp_path, sha256))
        assert done is not None
        assert done.status == ("diverged" if k == 2 else "finished")
        points = 2 if k == 1 else 10
        assert done.curve[:, 0].tolist() == [*range(3, 3 * points + 1, 3)]
        assert done.record == {"path": "fast", "updates": 30, "wall_seconds": 2.5}
        assert done.parameters.keys() == trainer.parameters.keys()
        for name, numbers in done.parameters.items():
            torch.testing.assert_close(
                torch.tensor(numbers), trainer.parameters[name].detach()[k],
                rtol=0, atol=0, equal_nan=True,
            )  # fmt: skip
