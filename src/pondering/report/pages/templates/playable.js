// The games of the first page: what a visitor gives to two networks, what they do with it, step by step, and the address
// that keeps it. All but the first game, and each network, are script files in play/, loaded when they are asked for.
"use strict";

const TASKS = {}; // by name: facts, box, change, refuse => how inputs are written, read and asked for (playable_NAME.js)
const GAMES = {}; // by name: the facts of its task, and its networks with all their published runs
const PARAMETERS = {}; // by file: those of a run
const PLAY = {}; // by name: the games that are open
const FILES = {}; // by file: its loading
const MEANINGS = { // of what the sliders set
  tau: "the price of a step in training",
  lambda_p: "the chance to stop that training aims at",
  seed: "another start of the same training",
};

// What a file of play/ calls.
function arrived(file, { bytes, numbers }) {
  const read = bytes === 2 ? halves : floats;
  PARAMETERS[file] = Object.fromEntries(Object.entries(numbers).map(([name, text]) => [name, read(text)]));
}

function load(file) {
  FILES[file] ??= new Promise((done, failed) => {
    const script = element("script", { src: `play/${file}.js` });
    script.addEventListener("load", done);
    script.addEventListener("error", failed);
    document.head.append(script);
  });
  return FILES[file];
}

function element(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

function button(words, press, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, words);
  made.addEventListener("click", press);
  return made;
}

// A choice of one of several words, each with its value.
function choice(pairs, choose, attributes = {}) {
  const made = element("select", attributes, ...pairs.map(([value, words]) => element("option", { value }, words)));
  made.addEventListener("change", () => choose(made.value));
  return made;
}

// Buttons in a row are one stop of the tab key; the arrow keys walk through them.
function walk(event, buttons) {
  const here = buttons.indexOf(document.activeElement);
  const moves = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -here, End: buttons.length - 1 - here };
  const next = buttons[here + moves[event.key]];
  if (!next) return null;
  event.preventDefault();
  for (const each of buttons) each.tabIndex = each === next ? 0 : -1;
  next.focus();
  return next;
}

// What the arrow keys do in a part of the page: read with it, and seen while the keyboard is in it.
function keys(part, words) {
  const id = `keys-${document.querySelectorAll(".keys").length}`;
  part.setAttribute("aria-describedby", id);
  part.after(element("p", { class: "keys small", id }, words));
}

// The probabilities of classes.
function softmax(logits) {
  const most = Math.max(...logits), powers = logits.map((each) => Math.exp(each - most));
  const sum = powers.reduce((total, each) => total + each, 0);
  return powers.map((each) => each / sum);
}

// The likeliest class, and how sure of it a network is.
function likeliest(logits) {
  const shares = softmax(logits), sure = Math.max(...shares);
  return { index: shares.indexOf(sure), sure };
}

// A share in percent, never rounded to all or nothing.
function percent(share) {
  if (share > 0 && share < 0.005) return "<1%";
  if (share < 1 && share >= 0.995) return ">99%";
  return `${Math.round(100 * share)}%`;
}

const counted = (number, one) => `${number} ${one}${number === 1 ? "" : "s"}`;

// What network k does with an input: of each of its vectors the steps, each with its weight p, what the network would
// say had it stopped there and how sure it would be; where it stops, and what it says then.
function thought({ task, networks, runs }, k, text) {
  const network = { ...networks[k], parameters: PARAMETERS[runs[k].file] };
  return think(network, task.inputs(text)).map(({ steps, stop, expected }) => {
    const told = steps.map(({ p, said }) => ({ p, ...task.says(said) }));
    return { steps: told, stop, expected, answer: told[stop - 1] };
  });
}

// The word for an answer, with its sign by the style sheet.
const verdict = (right) => element("span", { class: `mark ${right ? "good" : "bad"}` }, right ? "right" : "wrong");

function stopsAt(network, { stop, expected }) {
  if (network.mechanism === "pondernet") return `takes ${expected.toFixed(1)} steps on average, most likely ${stop},`;
  if (stop === network.max_steps) return `is stopped after ${counted(stop, "step")}, the most it may take,`;
  return `stops after ${counted(stop, "step")}`;
}

function row({ p, text, sure }, n, stops) {
  const bar = element("span", { class: "bar" }, element("span", { style: `--p: ${100 * p}%` }));
  const number = element("th", { scope: "row" }, `${n}`);
  if (stops) number.append(element("span", { class: "hidden" }, ", stops here"));
  const told = element("td", { class: "says" }, `${text}, ${percent(sure)}`);
  return element("tr", { class: stops ? "stop" : "", style: `--n: ${n}` }, number,
    element("td", {}, bar), element("td", { class: "number" }, percent(p)), told);
}

// The steps that a network took over an input.
const taken = ({ mechanism }, { stop, expected }) => (mechanism === "act" ? stop : expected);

// A sequence, each of its vectors tinted by the steps it took, full at `most`; the one that is pressed is shown step by step.
function strip(game, k, moments, truths, most) {
  const box = game.parts[k].querySelector(".strip"), inside = box.contains(document.activeElement);
  const cells = moments.map((moment, t) => {
    const { name, shown } = game.task.cell(game.input, t), steps = taken(game.networks[k], moment), { answer } = moment;
    const judged = truths[t] === null ? "" : answer.text === truths[t] ? ", right" : ", wrong";
    return button(shown, () => change(game, game.input, t), {
      class: `l${Math.round(10 * (steps - 1) / (most - 1))}`,
      "aria-pressed": t === game.at,
      tabindex: t === game.at ? 0 : -1,
      "aria-label": `${name}: ${counted(Number(steps.toFixed(1)), "step")}, says ${answer.text}${judged}`,
    });
  });
  box.replaceChildren(...cells);
  game.parts[k].querySelector(".most").textContent = counted(Number(most.toFixed(1)), "step");
  if (inside) cells[game.at].focus();
}

// How an answer comes about.
function answers(network, { stop, expected, answer }) {
  const sure = `${percent(answer.sure)} sure`;
  if (network.mechanism === "pondernet") {
    return `It stops by chance, after ${expected.toFixed(1)} steps on average. Shown is the answer of its likeliest step, ${stop}: ${sure}.`;
  }
  return `It ${stopsAt(network, { stop })} and ${stop === 1 ? "is" : "answers with their weighted mean:"} ${sure}.`;
}

// One network's part of the page. Of a tail without weight there is one line.
function showNetwork(game, k, moments, truths, most) {
  const network = game.networks[k], part = game.parts[k], run = game.runs[k];
  const { steps, stop, answer } = moments[game.at], truth = truths[game.at];
  const shown = steps.reduce((last, { p }, index) => (p >= 0.005 ? index + 1 : last), stop);
  const of = network.runs.filter((each) => each.setting === run.setting);
  game.sliders[k][0].show([...new Set(network.runs.map((each) => each.setting))].sort((a, b) => a - b), run.setting);
  game.sliders[k][1].show(of.map((each) => each.seed).sort((a, b) => a - b), run.seed);
  part.querySelector(".tested").textContent = run.tested;
  if (game.task.cell) strip(game, k, moments, truths, most);
  const judged = truth === null ? [] : [verdict(answer.text === truth)];
  part.querySelector(".answer").replaceChildren(answer.text, ...judged);
  part.querySelector(".stops").textContent = answers(network, moments[game.at]);
  const rows = steps.slice(0, shown).map((each, index) => row(each, index + 1, index + 1 === stop));
  part.querySelector("tbody").replaceChildren(...rows);
  const tail = percent(steps.slice(shown).reduce((sum, { p }) => sum + p, 0));
  part.querySelector(".rest").textContent = shown < steps.length ? `Steps ${shown + 1} to ${steps.length}: ${tail} together.` : "";
}

// Say why there is nothing to think about, and show no answers.
function refuse({ section }, why) {
  section.querySelector(".summary").textContent = why;
  section.querySelector(".note").hidden = true;
  section.querySelector(".thinkers").classList.add("idle");
}

// Show a game's input and what its networks do with it; all of it is read aloud, and what the networks' parts say too is not seen.
function show(game) {
  const { task, input, networks, section, notice } = game, truths = task.truths(input);
  const thoughts = networks.map((_, k) => thought(game, k, input)), truth = truths[game.at];
  const most = Math.max(2, ...thoughts.flatMap((moments, k) => moments.map((each) => taken(networks[k], each))));
  task.draw(input);
  thoughts.forEach((moments, k) => showNetwork(game, k, moments, truths, most));
  const told = networks.map((network, k) => {
    const moment = thoughts[k][game.at], { text } = moment.answer;
    const judged = truth === null ? "" : `: ${text === truth ? "right" : "wrong"}`;
    return `${network.title} ${stopsAt(network, moment)} and says ${text}${judged}.`;
  });
  const unseen = element("span", { class: "hidden" }, ` ${told.join(" ")}`), summary = section.querySelector(".summary");
  summary.replaceChildren(task.sentence(input, game.at), unseen);
  const unlike = task.unlike(input), note = section.querySelector(".note");
  const notes = [notice, unlike && `Neither network was trained on this: ${unlike}.`].filter(Boolean);
  note.textContent = notes.join(" ");
  note.hidden = !notes.length;
  section.querySelector(".thinkers").classList.remove("idle");
  if (task.empty?.(input)) refuse(game, task.empty(input));
}

// The address names the first game by its squares, any other by its name; and whatever is not as at first.
function address({ name, input, at, networks, runs, task }) {
  const first = name === FIRST, more = new URLSearchParams(first ? {} : { input });
  if (at !== task.truths(input).length - 1) more.set("at", at + 1);
  networks.forEach(({ mechanism, runs: [usual] }, k) => {
    if (runs[k] !== usual) more.set(mechanism, `${runs[k].setting},${runs[k].seed}`);
  });
  return `#${first ? input : name}${`${more}` && `?${more}`}`;
}

// The game that the address names, if it names no other place of the page, and what it says of it.
function addressed() {
  const [head, query] = location.hash.slice(1).split("?"), wish = new URLSearchParams(query ?? "");
  if (NAMES.includes(head)) return { name: head, wish };
  if (!head || document.getElementById(head)) return { name: null, wish };
  wish.set("input", head.replaceAll("%2B", "+"));
  return { name: FIRST, wish };
}

// Show a game once the networks that it has chosen are there.
async function settle(game) {
  const { runs } = game;
  await Promise.all(runs.map(({ file }) => PARAMETERS[file] ?? load(file)));
  if (game.runs === runs) show(game); // else others have been chosen meanwhile
}

// What a game says when a file could not be loaded.
const missing = (section) => (problem) => {
  if (!(problem instanceof Event)) throw problem;
  const words = "The networks are files in the folder play beside this page, and one of them is not there.";
  section.querySelector(".summary").textContent = words;
};

// Put a game into the address once its visitor rests: browsers refuse to change it with every stroke of a pen.
let resting = 0;
function share(game) {
  clearTimeout(resting);
  resting = setTimeout(() => history.replaceState(null, "", address(game)), 100);
}

// A change of the visitor's.
function change(game, input, at = Infinity, runs = game.runs) {
  Object.assign(game, { input, runs, at: Math.min(at, game.task.truths(input).length - 1), notice: "" });
  settle(game).catch(missing(game.section));
  share(game);
}

// A slider over values, of which no others can be chosen, and what it sets; of a single value there are only words.
function slider(name, choose) {
  const range = element("input", { type: "range", min: 0, step: 1 }), said = element("span");
  let values = [];
  range.addEventListener("input", () => choose(values[range.value]));
  return {
    label: element("label", {}, said, range, element("span", { class: "soft" }, MEANINGS[name])),
    show(all, value) {
      values = all;
      Object.assign(range, { max: all.length - 1, value: all.indexOf(value), hidden: all.length === 1 });
      range.setAttribute("aria-valuetext", value);
      said.textContent = `${name} = ${value}`;
    },
  };
}

// The sliders of network k: its setting, and the seed among those that were published with that.
function sliders(game, k) {
  const { runs, setting, title } = game.networks[k];
  const choose = (wanted) => {
    const fits = runs.filter((each) => each.setting === wanted.setting);
    const found = fits.find(({ seed }) => seed === wanted.seed) ?? fits[0];
    change(game, game.input, game.at, game.runs.with(k, found));
  };
  const made = [
    slider(setting, (value) => choose({ ...game.runs[k], setting: value })),
    slider("seed", (value) => choose({ ...game.runs[k], seed: value })),
  ];
  game.parts[k].querySelector(".sliders").append(...made.map(({ label }) => label));
  game.parts[k].querySelector(".runs").open = runs.length > 1 && matchMedia("(min-width: 46rem)").matches;
  const inputs = game.parts[k].querySelector(".strip");
  if (inputs) keys(inputs, "The arrow keys walk through the inputs.");
  inputs?.addEventListener("keydown", (event) => walk(event, [...inputs.children])?.click());
  return made;
}

// A game, with the part of the page that it plays in.
function made(name) {
  const section = document.getElementById(`play-${name}`), { facts, networks } = GAMES[name];
  const game = { name, networks, section, parts: [...section.querySelectorAll(".thinker")] };
  const box = section.querySelector(".controls");
  game.task = TASKS[name](facts, box, (input, at) => change(game, input, at), (why) => refuse(game, why));
  game.sliders = networks.map((_, k) => sliders(game, k));
  return game;
}

// Play what the address says, or else what the game showed last, or its own first input. What the address has wrong is said, and mended.
async function play(name) {
  if (!GAMES[name]) await load(name);
  const game = (PLAY[name] ??= made(name)), { name: named, wish } = addressed();
  const own = named === name ? wish : new URLSearchParams(), wrong = [];
  const wished = (key, find) => {
    const found = own.has(key) ? find(own.get(key)) : null;
    if (own.has(key) && !found) wrong.push(`${key} “${own.get(key).slice(0, 40)}”`);
    return found;
  };
  const runs = game.networks.map(({ mechanism, runs: all }, k) => {
    const run = wished(mechanism, (text) => all.find(({ setting, seed }) => `${setting},${seed}` === text));
    return run ?? game.runs?.[k] ?? all[0];
  });
  const input = wished("input", game.task.read) ?? game.input ?? game.task.first;
  const { length } = game.task.truths(input), places = Array.from({ length }, (_, k) => String(k + 1));
  const at = Number(wished("at", (text) => places.find((place) => place === text)) ?? length);
  const notice = wrong.length ? `The address asked for ${wrong.join(" and ")}, which this game does not know; the page shows another instead.` : "";
  Object.assign(game, { input, runs, notice, at: at - 1 });
  await settle(game);
  if (notice) share(game);
}

const NAMES = [...document.querySelectorAll(".game")].map(({ id }) => id.replace("play-", ""));
const FIRST = NAMES[0];

// Play the game that the address names, and open the part of the page that it is in.
function follow() {
  const { name } = addressed(), folded = document.getElementById(`play-${name}`)?.closest("details");
  if (folded && !folded.open) {
    folded.open = true; // and then as if a visitor had opened it
    folded.scrollIntoView();
  } else if (name) play(name).catch(missing(document.getElementById(`play-${name}`)));
}

function begin() {
  for (const name of NAMES.slice(1)) {
    const folded = document.getElementById(`play-${name}`).closest("details");
    folded.addEventListener("toggle", () => {
      if (folded.open) play(name).then(() => share(PLAY[name]), missing(folded));
    });
  }
  document.getElementById("play").hidden = false;
  addEventListener("hashchange", follow);
  play(FIRST).catch(missing(document.getElementById(`play-${FIRST}`)));
  if (NAMES.indexOf(addressed().name) > 0) follow();
}
