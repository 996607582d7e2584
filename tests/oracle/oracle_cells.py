"""The cells of the oracle, in NumPy float64: one step of one example. See oracle.py."""

from __future__ import annotations

import math

import numpy as np

Array = np.ndarray
State = tuple[Array, ...]
Weights = dict[str, Array]


# --- scalar functions -------------------------------------------------------------------------


def sigmoid(a: float) -> float:
    if a >= 0:
        return 1.0 / (1.0 + math.exp(-a))
    return math.exp(a) / (1.0 + math.exp(a))


def log_sigmoid(a: float) -> float:
    """log sigmoid(a), exact where sigmoid itself is 0 in floating point."""
    return -math.log1p(math.exp(-a)) if a >= 0 else a - math.log1p(math.exp(a))


def _sigmoids(values: Array) -> Array:
    return np.array([sigmoid(float(v)) for v in values])


# --- cells: one step of one example -----------------------------------------------------------


def tanh_rnn(w: Weights, x: Array, state: State) -> State:
    """s = tanh(W_x x + W_s s + b)."""
    (s,) = state
    return (np.tanh(w["W_x"] @ x + w["W_s"] @ s + w["b"]),)


def gru(w: Weights, x: Array, state: State) -> State:
    """torch.nn.GRUCell's documented equations, blocks in the order reset, update, new."""
    (s,) = state
    size = len(s)
    from_input = w["W_x"] @ x + w["b_x"]
    from_state = w["W_s"] @ s + w["b_s"]
    r = _sigmoids(from_input[:size] + from_state[:size])
    z = _sigmoids(from_input[size : 2 * size] + from_state[size : 2 * size])
    new = np.tanh(from_input[2 * size :] + r * from_state[2 * size :])
    return ((1.0 - z) * new + z * s,)


def lstm(w: Weights, x: Array, state: State) -> State:
    """torch.nn.LSTMCell's documented equations, blocks in the order input, forget, cell, output."""
    s, c = state
    size = len(s)
    a = w["W_x"] @ x + w["W_s"] @ s + w["b"]
    i = _sigmoids(a[:size])
    f = _sigmoids(a[size : 2 * size])
    g = np.tanh(a[2 * size : 3 * size])
    o = _sigmoids(a[3 * size :])
    c_new = f * c + i * g
    return (o * np.tanh(c_new), c_new)


def convolve(image: Array, kernel: Array, bias: Array) -> Array:
    """Valid cross-correlation. image (I, H, W), kernel (O, I, k, k) -> (O, H-k+1, W-k+1)."""
    outputs, _, k, _ = kernel.shape
    height, width = image.shape[1] - k + 1, image.shape[2] - k + 1
    result = np.zeros((outputs, height, width))
    for i in range(height):
        for j in range(width):
            patch = image[:, i : i + k, j : j + k].ravel()
            result[:, i, j] = kernel.reshape(outputs, -1) @ patch + bias
    return result


def max_pool(image: Array) -> Array:
    """2 x 2 maximum with stride 2."""
    channels, height, width = image.shape
    result = np.zeros((channels, height // 2, width // 2))
    for i in range(height // 2):
        for j in range(width // 2):
            result[:, i, j] = image[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2].max(axis=(1, 2))
    return result


def relu(values: Array) -> Array:
    return np.where(values > 0, values, 0.0)


def image_embedding(w: Weights, pixels: Array) -> Array:
    """The MNIST notebook's CNN: two convolutions, each max-pooled and rectified, and a layer."""
    side = math.isqrt(len(pixels))
    maps = pixels.reshape(1, side, side)
    maps = relu(max_pool(convolve(maps, w["kernel_1"], w["bias_1"])))
    maps = relu(max_pool(convolve(maps, w["kernel_2"], w["bias_2"])))
    return relu(w["W_e"] @ maps.ravel() + w["b_e"])


def conv_mlp(w: Weights, x: Array, state: State) -> State:
    """One step of the notebook's MLP on [embedding; flag] and the hidden state."""
    (s,) = state
    return (w["W_out"] @ relu(w["W_x"] @ x + w["W_s"] @ s + w["b"]) + w["b_out"],)
