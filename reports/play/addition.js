// Addition: numbers, each a vector of its digits from the left; the answer is the digits of their sum so far, then marks of the end.
TASKS.addition = ({ digits, length: [fewest, most], classes, end, numbers: limit }, box, change, refuse) => {
  const words = (text) => text.split(/[\s+]+/).filter(Boolean);
  // Why a text cannot be read; empty where it can.
  const problem = (text) => {
    const found = words(text), strange = found.find((word) => !/^[0-9]+$/.test(word)), long = found.find((word) => word.length > digits);
    if (!found.length) return "Nothing to add yet.";
    if (strange) return `“${strange}” is not a number.`;
    if (long) return `${long} is too long: the networks read numbers of 1 to ${digits} digits.`;
    return found.length > limit ? `These are ${found.length} numbers; at most ${limit} can be added here.` : "";
  };
  const read = (text) => (problem(text) ? null : words(text).join(" + "));
  const sums = (text) => words(text).reduce((all, word) => [...all, Number(word) + (all.at(-1) ?? 0)], []);
  const field = element("input", { type: "text", autocomplete: "off", spellcheck: "false", "aria-describedby": "play-addition-help" });
  const help = `1 to ${limit} numbers of 1 to ${digits} digits, with + between them.`;
  const said = element("p", { class: "soft small", id: "play-addition-help" }, help), encoded = element("p", { class: "soft small" });
  field.addEventListener("input", () => {
    const why = problem(field.value);
    field.setAttribute("aria-invalid", Boolean(why));
    if (why) {
      encoded.textContent = "";
      refuse(why);
    } else change(read(field.value));
  });
  const random = () => {
    const below = (limit) => Math.floor(limit * Math.random());
    const drawn = () => Array.from({ length: 1 + below(digits) }, () => below(10)).join("");
    change(Array.from({ length: most }, drawn).join(" + "));
  };
  const tools = element("p", { class: "tools" }, element("label", {}, "Numbers to add ", field), button("Draw at random", random));
  box.append(tools, said, encoded);
  return {
    first: Array.from({ length: most }, (_, t) => `${59 - 21 * t}`.slice(0, digits)).join(" + "),
    read,
    inputs: (text) => words(text).map((word) => {
      const x = Array(10 * digits).fill(0);
      Array.from(word).forEach((digit, place) => { x[10 * place + Number(digit)] = 1; });
      return x;
    }),
    truths: (text) => sums(text).map((sum, t) => (t ? `${sum}` : null)), // the first number alone asks for nothing
    says(logits) {
      const place = (_, index) => likeliest(logits.slice(index * classes, (index + 1) * classes));
      const places = Array.from({ length: digits + 1 }, place);
      const text = places.map(({ index }) => (index === end ? "*" : index)).join("").replace(/\*+$/, "");
      return { text: text || "nothing", sure: places.reduce((all, { sure }) => all * sure, 1) };
    },
    cell: (text, t) => ({ name: `Number ${t + 1}, ${words(text)[t]}`, shown: `${t ? "+ " : ""}${words(text)[t]}` }),
    sentence: (text, at) => (at ? `After number ${at + 1} the sum is ${sums(text)[at]}.` : "After the first number nothing is asked."),
    unlike: (text) => (words(text).length > most ? `in training ${fewest} to ${most} numbers were added` : ""),
    draw(text) {
      if (read(field.value) !== text) field.value = text;
      field.setAttribute("aria-invalid", false);
      const places = words(text).map((word) => Array.from(word.padEnd(digits, "·")).join(" "));
      const shown = `The networks read ${digits} places a number, from the left: ${places.join(", then ")}.`;
      encoded.textContent = `${shown} They write ${digits + 1} places.`;
    },
  };
};
GAMES.addition = {"name": "addition", "profile": "quick", "what": "up to 2 digits, sequences of 1 to 2", "facts": {"name": "addition", "digits": 2, "length": [1, 2], "test_length": 2, "classes": 11, "end": 10, "numbers": 10}, "met": ", 78% of which training had met", "networks": [{"mechanism": "act", "title": "ACT", "setting": "tau", "cell": "lstm", "max_steps": 6, "epsilon": 0.01, "runs": [{"setting": 0.1, "seed": 0, "file": "addition-act-0.1-0", "tested": "1.05 steps on average, 36.2% of answers wrong"}]}, {"mechanism": "pondernet", "title": "PonderNet", "setting": "lambda_p", "cell": "lstm", "max_steps": 4, "epsilon": 0, "runs": [{"setting": 0.4, "seed": 0, "file": "addition-pondernet-0.4-0", "tested": "1.99 steps on average, 45.5% of answers wrong"}]}]};
