// Parity: squares that are +1, -1 or 0, written +-0; the question is whether the number of +1s is odd.
TASKS.parity = ({ bits, train_nonzero: [fewest, most], signs }, box, change) => {
  const NAMES_OF = { "+": "+1", "-": "−1", "0": "0" }, AFTER = { "0": "+", "+": "-", "-": "0" };
  const count = (text, sign) => text.split(sign).length - 1;
  const read = (text) => (/^[-+ 0]+$/.test(text) && text.length <= bits ? text.replaceAll(" ", "+").padEnd(bits, "0") : null); // in a query a + is read as a space
  let current = "";
  const squares = Array.from({ length: bits }, (_, index) => button("", () => {
    change(current.slice(0, index) + AFTER[current[index]] + current.slice(index + 1));
  }, { tabindex: index ? -1 : 0 }));
  const style = `--all: ${bits}; --half: ${Math.ceil(bits / 2)}`;
  const group = element("div", { class: "squares", role: "group", "aria-label": "Squares", style }, ...squares);
  group.addEventListener("keydown", (event) => walk(event, squares));
  const random = () => change(squares.map(() => "+-0"[Math.floor(3 * Math.random())]).join(""));
  box.append(group, element("p", { class: "tools" }, button("Draw at random", random)));
  keys(group, "The arrow keys walk through the squares, Space changes one.");
  return {
    first: "+-0+00-+0-+0".slice(0, bits),
    read,
    inputs: (text) => [Array.from(text, (sign) => signs[sign])],
    truths: (text) => [count(text, "+") % 2 ? "odd" : "even"],
    says([y]) {
      const odd = sigmoid(y);
      return { text: odd > 0.5 ? "odd" : "even", sure: Math.max(odd, 1 - odd) };
    },
    sentence(text) {
      const positive = count(text, "+");
      return `${positive} of ${bits} squares ${positive === 1 ? "is" : "are"} +1, so the truth is ${positive % 2 ? "odd" : "even"}.`;
    },
    unlike(text) {
      const there = bits - count(text, "0");
      return there >= fewest && there <= most ? "" : `in training ${fewest} to ${most} of the squares were not 0`;
    },
    draw(text) {
      current = text;
      squares.forEach((square, index) => {
        square.dataset.sign = text[index];
        square.textContent = NAMES_OF[text[index]];
        square.setAttribute("aria-label", `Square ${index + 1} of ${bits}: ${NAMES_OF[text[index]]}`);
      });
    },
  };
};
