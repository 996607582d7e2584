// Trained networks that ponder: cells and halting, as src/pondering/model has them. Sums are doubles.
"use strict";

// The float32 or float16 numbers that base64 text holds.
const decoded = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0)).buffer;
const floats = (text) => new Float32Array(decoded(text));
const halves = (text) => Float32Array.from(new Uint16Array(decoded(text)), (bits) => {
  const exponent = (bits >> 10) & 31, fraction = (bits & 1023) / 1024;
  return (bits >> 15 ? -1 : 1) * (exponent ? (1 + fraction) * 2 ** (exponent - 15) : fraction * 2 ** -14);
});

// W v + b for a matrix W whose rows lie one after the other.
function affine(W, v, b) {
  return Array.from(b, (bias, row) => {
    let sum = bias;
    for (let column = 0, at = row * v.length; column < v.length; column += 1, at += 1) sum += W[at] * v[column];
    return sum;
  });
}

const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const plus = (a, b) => a.map((each, index) => each + b[index]);
const relu = (v) => v.map((each) => Math.max(each, 0));

// W_x x + b of a vector x, or of the one-hot vector that an index x stands for.
function input(own, x) {
  const W = own["cell.input.weight"], b = own["cell.input.bias"];
  return Array.isArray(x) ? affine(W, x, b) : Array.from(b, (bias, row) => bias + W[row * (W.length / b.length) + x]);
}

// A convolution with kernel 5, then the largest of each 2 x 2, then ReLU: maps side x side to maps half as wide, less 2.
function convolved(maps, side, filters, biases) {
  const wide = side - 4, half = wide / 2, channels = maps.length / side ** 2;
  const made = new Float64Array(biases.length * half ** 2); // zeros, so that the largest is that of a ReLU
  biases.forEach((bias, filter) => {
    for (let y = 0; y < wide; y += 1) for (let x = 0; x < wide; x += 1) {
      let sum = bias;
      for (let channel = 0; channel < channels; channel += 1) for (let row = 0; row < 5; row += 1) {
        const from = channel * side ** 2 + (y + row) * side + x, by = ((filter * channels + channel) * 5 + row) * 5;
        for (let column = 0; column < 5; column += 1) sum += maps[from + column] * filters[by + column];
      }
      const to = filter * half ** 2 + (y >> 1) * half + (x >> 1);
      made[to] = Math.max(made[to], sum);
    }
  });
  return made;
}

// Of a cell: how many vectors its state has, what a step takes from the input alone, and a step.
const CELLS = {
  tanh_rnn: {
    parts: 1,
    embed: input,
    step: (own, drive, [s]) => [affine(own["cell.recurrent"], s, drive).map(Math.tanh)],
  },
  lstm: {
    parts: 2,
    embed: input,
    step(own, drive, [h, c]) {
      const gates = affine(own["cell.recurrent"], h, drive);
      const gate = (index, unit) => gates[index * h.length + unit]; // i, f, g, o
      const cell = c.map((each, unit) => sigmoid(gate(1, unit)) * each + sigmoid(gate(0, unit)) * Math.tanh(gate(2, unit)));
      return [cell.map((each, unit) => sigmoid(gate(3, unit)) * Math.tanh(each)), cell];
    },
  },
  conv_mlp: {
    parts: 1,
    embed(own, image) {
      const first = convolved(image, Math.sqrt(image.length), own["cell.filters1"], own["cell.bias1"]);
      const side = Math.sqrt(first.length / own["cell.bias1"].length);
      const maps = convolved(first, side, own["cell.filters2"], own["cell.bias2"]);
      const embedded = relu(affine(own["cell.embedding.weight"], maps, own["cell.embedding.bias"]));
      return affine(own["cell.join.weight"], embedded, own["cell.join.bias"]);
    },
    step(own, drive, [h]) {
      const joined = plus(drive, affine(own["cell.recurrent.weight"], h, own["cell.recurrent.bias"]));
      return [affine(own["cell.out.weight"], relu(joined), own["cell.out.bias"])];
    },
  },
};

// Of a step that is not the last: its p_n by the halting unit h and what is left of 1; and whether it is the last.
const HALTING = {
  // p_n = h_n until less than epsilon is unspent; the last step gets the rest (Graves 2016, Eqs. 5-8).
  act: (h, left, epsilon) => ({ weight: h, ends: h >= left - epsilon }),
  // p_n = lambda_n prod (1 - lambda_j); the last step gets the rest (Banino 2021, Eq. 2).
  pondernet: (lambda, left, epsilon) => ({ weight: left * lambda, ends: left * (1 - lambda) < epsilon }),
};

// One input vector. Its steps, each with its weight p and the outputs had the network stopped there: of ACT the mean of
// y_1 to y_n, y_n with all that is left, of PonderNet y_n. Where it stops: PonderNet's likeliest step. And the mean of its
// states under p, which the next vector finds, as in training.
function ponder(network, x, before) {
  const { parameters: own, mechanism } = network, cell = CELLS[network.cell];
  const drive = cell.embed(own, x), flag = own["cell.flag"], steps = [];
  let state = before, carried = before.map((part) => part.map(() => 0));
  for (let left = 1, mixed = null, last = false, n = 1; !last; n += 1) {
    state = cell.step(own, n === 1 && flag ? plus(drive, flag) : drive, state);
    const outputs = affine(own["heads.weight"], state[0], own["heads.bias"]);
    const { weight, ends } = HALTING[mechanism](sigmoid(outputs.pop()), left, network.epsilon);
    last = ends || n === network.max_steps;
    const p = last ? left : weight;
    mixed ??= outputs.map(() => 0);
    steps.push({ p, said: mechanism === "act" ? outputs.map((y, index) => mixed[index] + left * y) : outputs });
    mixed = outputs.map((y, index) => mixed[index] + p * y);
    carried = carried.map((part, index) => part.map((sum, unit) => sum + p * state[index][unit]));
    left -= p;
  }
  const likeliest = steps.reduce((best, each, index) => (each.p > steps[best].p ? index : best), 0);
  const expected = steps.reduce((sum, { p }, index) => sum + (index + 1) * p, 0);
  return { steps, stop: mechanism === "act" ? steps.length : likeliest + 1, expected, carried };
}

// What a network does with the vectors of a sequence, one after the other.
function think(network, inputs) {
  const own = network.parameters, width = own["heads.weight"].length / own["heads.bias"].length;
  let state = Array.from({ length: CELLS[network.cell].parts }, () => Array(width).fill(0));
  return inputs.map((x) => {
    const moment = ponder(network, x, state);
    state = moment.carried;
    return moment;
  });
}
