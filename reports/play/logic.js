// Logic: vectors of two bits (later of one) and gates, written as "01 XOR AND; 1 NOR"; b_(i+1) = T_i(b_i, b_(i-1)).
TASKS.logic = ({ gates: slots, length: [fewest, most], names, truth }, box, change) => {
  const parse = (text) => text.split(";").map((each) => {
    const [bits, ...gates] = each.trim().split(/\s+/);
    const lower = names.map((name) => name.toLowerCase());
    return { bits: Array.from(bits, Number), gates: gates.map((gate) => lower.indexOf(gate.toLowerCase())) };
  });
  const write = (vectors) => vectors.map(({ bits, gates }) => [bits.join(""), ...gates.map((gate) => names[gate])].join(" ")).join("; ");
  const fits = ({ bits, gates }, t) => bits.length === (t ? 1 : 2) && bits.every((bit) => bit === 0 || bit === 1)
    && gates.length > 0 && gates.length <= slots && !gates.includes(-1);
  const MOST = 2 * most; // vectors that can be asked for
  const TRUE_IF = { // by their truth for (last bit, bit before it) = 00, 01, 10, 11
    "1000": "neither bit is 1", "0100": "only the bit before is 1", "0010": "only the last bit is 1", "0110": "exactly one bit is 1",
    "1110": "not both bits are 1", "0001": "both bits are 1", "1001": "both bits are alike", "1101": "the last bit is 0 or the bit before is 1",
    "1011": "the last bit is 1 or the bit before is 0", "0111": "at least one bit is 1",
  };
  const meaning = (gate) => `${names[gate]} gives 1 if ${TRUE_IF[truth[gate].join("")]}`;
  // The last bit of each vector.
  function lasts(text) {
    let carried = 0;
    return parse(text).map(({ bits, gates }) => {
      const newest = bits.at(-1), before = bits.length === 2 ? bits[0] : carried;
      [carried] = gates.reduce(([last, old], gate) => [truth[gate][2 * last + old], last], [newest, before]);
      return carried;
    });
  }
  let vectors = [];
  const told = (t) => change(write(vectors), t);
  const rows = element("div"), gates = element("p", { class: "soft small" });
  const add = button("Add a vector", () => { vectors.push({ bits: [1], gates: [0] }); told(); });
  const remove = button("Remove the last vector", () => { vectors.pop(); told(); });
  box.append(rows, gates, element("p", { class: "tools" }, add, remove));
  // A vector's controls: its bits, its gates, and one gate more while there is room.
  function fieldset(t) {
    const bits = vectors[t].bits.map((_, index) => button("", () => { vectors[t].bits[index] ^= 1; told(t); }));
    const choices = Array.from({ length: slots }, (_, place) => {
      const options = ["–", ...names].map((name, index) => [index - 1, name]);
      return choice(options, (value) => {
        const own = vectors[t].gates;
        if (value >= 0) own[place] = Number(value);
        else if (own.length > 1) own.splice(place, 1);
        told(t);
      }, { "aria-label": `Vector ${t + 1}, gate ${place + 1}` });
    });
    const last = element("strong");
    const made = element("fieldset", { class: "vector" }, element("legend", {}, `Vector ${t + 1}`), ...bits, ...choices, last);
    return Object.assign(made, { bits, choices, last });
  }
  return {
    first: write([{ bits: [0, 1], gates: [3, 5] }, ...Array(Math.min(most, 2) - 1).fill({ bits: [1], gates: [0, 8, 3] })]),
    read(text) {
      const found = parse(text);
      return found.length <= MOST && found.every(fits) ? write(found) : null;
    },
    inputs: (text) => parse(text).map(({ bits, gates }) => {
      const x = Array(2 + names.length * slots).fill(0);
      bits.forEach((bit, index) => { x[2 - bits.length + index] = bit; });
      gates.forEach((gate, place) => { x[2 + names.length * place + gate] = 1; });
      return x;
    }),
    truths: (text) => lasts(text).map(String),
    says([y]) {
      const one = sigmoid(y);
      return { text: one > 0.5 ? "1" : "0", sure: Math.max(one, 1 - one) };
    },
    cell(text, t) {
      const own = text.split("; ")[t];
      return { name: `Vector ${t + 1}, ${own}`, shown: own };
    },
    sentence: (text, at) => `After the gates of vector ${at + 1} the last bit is ${lasts(text)[at]}.`,
    unlike: (text) => (parse(text).length > most ? `in training sequences had ${fewest} to ${most} vectors` : ""),
    draw(text) {
      vectors = parse(text);
      while (rows.children.length > vectors.length) rows.lastChild.remove();
      while (rows.children.length < vectors.length) rows.append(fieldset(rows.children.length));
      lasts(text).forEach((bit, t) => {
        const { bits, choices, last } = rows.children[t], own = vectors[t];
        bits.forEach((each, index) => {
          each.textContent = own.bits[index];
          each.setAttribute("aria-label", `Vector ${t + 1}, bit ${index + 1}: ${own.bits[index]}`);
        });
        choices.forEach((select, place) => {
          select.value = own.gates[place] ?? -1;
          select.hidden = place > own.gates.length;
          select.title = place < own.gates.length ? meaning(own.gates[place]) : "";
        });
        last.textContent = `→ ${bit}`;
      });
      gates.textContent = `${[...new Set(vectors.flatMap((each) => each.gates))].map(meaning).join("; ")}.`;
      add.disabled = vectors.length === MOST;
      remove.disabled = vectors.length === 1;
    },
  };
};
GAMES.logic = {"name": "logic", "profile": "reduced", "what": "up to 10 gates, sequences of 1 to 5", "facts": {"name": "logic", "gates": 10, "length": [1, 5], "test_length": 5, "names": ["NOR", "Xq", "ABJ", "XOR", "NAND", "AND", "XNOR", "if/then", "then/if", "OR"], "truth": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1], [1, 0, 0, 1], [1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1]]}, "met": "", "networks": [{"mechanism": "act", "title": "ACT", "setting": "tau", "cell": "lstm", "max_steps": 20, "epsilon": 0.01, "runs": [{"setting": 0.003, "seed": 0, "file": "logic-act-0.003-0", "tested": "5.44 steps on average, 0.23% of answers wrong"}]}, {"mechanism": "pondernet", "title": "PonderNet", "setting": "lambda_p", "cell": "lstm", "max_steps": 6, "epsilon": 0, "runs": [{"setting": 0.4, "seed": 0, "file": "logic-pondernet-0.4-0", "tested": "4.43 steps on average, 1.5% of answers wrong"}]}]};
