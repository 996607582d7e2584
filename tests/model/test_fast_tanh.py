"""The fast path's tanh for CPUs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pondering.model.paths.fast.kernels import LANES, _fast_tanh


@pytest.mark.parametrize("width", [LANES, 3 * LANES, LANES + 1, 5])
def test_the_fast_tanh_is_exact_within_rounding(width: int) -> None:
    x = torch.linspace(-3, 3, 40 * width, dtype=torch.float64).pow(3).view(40, width)
    for dtype, close in ((torch.float32, 3e-7), (torch.float64, 1e-15)):
        values = x.to(dtype)
        exact = np.tanh(values.double().numpy())
        assert np.abs(_fast_tanh(values).double().numpy() - exact).max() < close
    odd = torch.tensor([[0.0, torch.inf, -torch.inf, torch.nan]]).repeat(1, width)
    found = _fast_tanh(odd)[0, :4]
    assert found[:3].tolist() == [0.0, 1.0, -1.0] and found[3].isnan()
