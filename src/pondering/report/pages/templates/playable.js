// Two trained networks that think about the squares which a visitor taps. Numbers are doubles.
"use strict";

const PLAY = JSON.parse(document.getElementById("networks").textContent);
const VALUES = { "+": 1, "-": -1, "0": 0 };
const AFTER = { "0": "+", "+": "-", "-": "0" };
const NAMES = { "+": "+1", "-": "−1", "0": "0" };
const FIRST = "+-0+00-+0-+0"; // what is shown before anything is tapped

for (const network of PLAY.networks) {
  for (const [name, text] of Object.entries(network.parameters)) network.parameters[name] = floats(text);
}

// The float32 numbers that base64 text holds.
function floats(text) {
  return new Float32Array(Uint8Array.from(atob(text), (one) => one.charCodeAt(0)).buffer);
}

// W v + b for a matrix W whose rows lie one after the other.
function affine(W, v, b) {
  return Array.from(b, (bias, row) => v.reduce((sum, each, column) => sum + W[row * v.length + column] * each, bias));
}

const sigmoid = (x) => 1 / (1 + Math.exp(-x));

// s_n = tanh(W_x x + b + W_s s_(n-1)), with the flag's weights added at step 1; of each step the
// output y_n and h_n, the halting unit: [[y_1, h_1], ...].
function ponder(network, x) {
  const own = network.parameters;
  const drive = affine(own["cell.input.weight"], x, own["cell.input.bias"]);
  let state = drive.map(() => 0);
  return Array.from({ length: network.max_steps }, (_, step) => {
    const flagged = step || !own["cell.flag"] ? drive : drive.map((each, row) => each + own["cell.flag"][row]);
    state = affine(own["cell.recurrent"], state, flagged).map(Math.tanh);
    const [y, logit] = affine(own["heads.weight"], state, own["heads.bias"]);
    return [y, sigmoid(logit)];
  });
}

// Each function gives p_n of every step, and what the network would say had it stopped there.
const HALTING = {
  // p_n = h_n until less than epsilon is unspent; the last step gets the rest (Graves 2016, Eqs. 5-8).
  act(outputs, epsilon) {
    const steps = [];
    let unspent = 1, mixed = 0;
    for (const [y, h] of outputs) {
      const last = steps.length + 1 === outputs.length || h >= unspent - epsilon;
      const p = last ? unspent : h;
      steps.push({ p, said: mixed + unspent * y });
      if (last) break;
      mixed += p * y;
      unspent -= p;
    }
    return steps;
  },
  // p_n = lambda_n prod (1 - lambda_j); the last step gets the rest (Banino 2021, Eq. 2).
  pondernet(outputs, epsilon) {
    const steps = [];
    let left = 1;
    for (const [y, lambda] of outputs) {
      const after = left * (1 - lambda);
      const last = steps.length + 1 === outputs.length || after < epsilon;
      steps.push({ p: last ? left : left * lambda, said: y });
      if (last) break;
      left = after;
    }
    return steps;
  },
};

// What a network does with squares such as "+0-00": its steps, each with its weight p and the
// probability of "odd" had it stopped there; where it stops; how sure it then is of "odd".
function think(network, signs) {
  const x = Array.from(signs, (sign) => VALUES[sign]);
  const steps = HALTING[network.mechanism](ponder(network, x), network.epsilon)
    .map(({ p, said }) => ({ p, odd: sigmoid(said) }));
  const likeliest = steps.reduce((best, each, index) => (each.p > steps[best].p ? index : best), 0);
  const stop = network.mechanism === "act" ? steps.length : likeliest + 1;
  const expected = steps.reduce((sum, each, index) => sum + (index + 1) * each.p, 0);
  return { steps, stop, expected, odd: steps[stop - 1].odd };
}

const count = (signs, sign) => signs.split(sign).length - 1;
const parity = (odd) => (odd ? "odd" : "even");
const answer = (odd) => parity(odd > 0.5);

// A share in percent, never rounded to all or nothing.
function percent(share) {
  if (share > 0 && share < 0.005) return "<1%";
  if (share < 1 && share >= 0.995) return ">99%";
  return `${Math.round(100 * share)}%`;
}

const sure = (odd) => percent(Math.max(odd, 1 - odd));

function element(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

// The sign and the word that the other pages have for a verdict.
function verdict(right) {
  const made = element("span", { class: `mark ${right ? "reproduced" : "failed"}` });
  const sign = `<svg aria-hidden="true" focusable="false"><use href="#sign-${right ? "reproduced" : "failed"}"/></svg>`;
  made.innerHTML = sign + (right ? "right" : "wrong");
  return made;
}

function stopsAt(network, { stop, expected }) {
  if (network.mechanism === "pondernet") return `takes ${expected.toFixed(1)} steps on average, most likely ${stop},`;
  if (stop === network.max_steps) return `is stopped after ${stop} steps, the most it may take,`;
  return `stops after ${stop} step${stop === 1 ? "" : "s"}`;
}

function row({ p, odd }, n, stops) {
  const bar = element("span", { class: "bar" }, element("span", { style: `--p: ${100 * p}%` }));
  const number = element("th", { scope: "row" }, `${n}`);
  if (stops) number.append(element("span", { class: "hidden" }, ", stops here"));
  return element("tr", { class: stops ? "stop" : "", style: `--n: ${n}` }, number,
    element("td", {}, bar), element("td", { class: "number" }, percent(p)), element("td", { class: "says" }, `${answer(odd)}, ${sure(odd)}`));
}

// One network's part of the page. Of a tail without weight there is one line.
function show(network, thought, odd) {
  const part = document.getElementById(`play-${network.mechanism}`);
  const { steps, stop } = thought;
  const shown = steps.reduce((last, { p }, index) => (p >= 0.005 ? index + 1 : last), stop);
  part.querySelector(".answer").replaceChildren(answer(thought.odd), verdict(answer(thought.odd) === parity(odd)));
  part.querySelector(".stops").textContent = `It ${stopsAt(network, thought)} and is ${sure(thought.odd)} sure.`;
  part.querySelector("tbody").replaceChildren(...steps.slice(0, shown).map((each, index) => row(each, index + 1, index + 1 === stop)));
  const tail = steps.slice(shown).reduce((sum, { p }) => sum + p, 0);
  part.querySelector(".rest").textContent = shown < steps.length ? `Steps ${shown + 1} to ${steps.length}: ${percent(tail)} together.` : "";
}

// The sentence that is read aloud after every tap.
function summary(signs, thoughts, odd) {
  const told = PLAY.networks.map((network, index) => {
    const says = answer(thoughts[index].odd);
    return `${network.title} ${stopsAt(network, thoughts[index])} and says ${says}: ${says === parity(odd) ? "right" : "wrong"}.`;
  });
  const positive = count(signs, "+");
  return `${positive} of ${signs.length} squares ${positive === 1 ? "is" : "are"} +1, so the truth is ${parity(odd)}. ${told.join(" ")}`;
}

const section = document.getElementById("play");
const squares = [...section.querySelectorAll(".squares button")];
let current = "";

// Show squares and what the networks think of them.
function set(signs) {
  current = signs;
  squares.forEach((square, index) => {
    square.dataset.sign = signs[index];
    square.textContent = NAMES[signs[index]];
    square.setAttribute("aria-label", `Square ${index + 1} of ${squares.length}: ${NAMES[signs[index]]}`);
  });
  const odd = count(signs, "+") % 2 === 1;
  const thoughts = PLAY.networks.map((network) => think(network, signs));
  PLAY.networks.forEach((network, index) => show(network, thoughts[index], odd));
  const there = signs.length - count(signs, "0"), [fewest, most] = PLAY.trained;
  section.querySelector(".summary").textContent = summary(signs, thoughts, odd);
  section.querySelector(".note").hidden = there >= fewest && there <= most;
}

// The squares that the address names, zeros added at the end; null where it names none.
function addressed() {
  const signs = location.hash.slice(1).replaceAll("%2B", "+");
  return /^[-+0]+$/.test(signs) && signs.length <= PLAY.bits ? signs.padEnd(PLAY.bits, "0") : null;
}

// A change of the visitor's: it goes into the address, in place of the last one.
function change(signs) {
  history.replaceState(null, "", `#${signs}`);
  set(signs);
}

// The squares are one stop of the tab key; the arrow keys walk through them.
function walk(event) {
  const here = squares.indexOf(document.activeElement);
  const moves = { ArrowRight: here + 1, ArrowDown: here + 1, ArrowLeft: here - 1, ArrowUp: here - 1, Home: 0, End: squares.length - 1 };
  const next = squares[moves[event.key]];
  if (!next) return;
  event.preventDefault();
  squares.forEach((square) => { square.tabIndex = square === next ? 0 : -1; });
  next.focus();
}

squares.forEach((square, index) => {
  square.tabIndex = index ? -1 : 0;
  square.addEventListener("keydown", walk);
  square.addEventListener("click", () => change(current.slice(0, index) + AFTER[current[index]] + current.slice(index + 1)));
});
section.querySelector(".draw").addEventListener("click", () => {
  change(squares.map(() => "+-0"[Math.floor(3 * Math.random())]).join(""));
});
addEventListener("hashchange", () => { if (addressed()) set(addressed()); });
section.hidden = false;
set(addressed() ?? FIRST.slice(0, PLAY.bits));
