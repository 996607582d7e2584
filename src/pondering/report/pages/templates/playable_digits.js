// Digits: a picture in 16 greys, drawn or taken from the examples, and turned; written PICTURE.ANGLE.DIGIT.
TASKS.digits = ({ side, mean, deviation, train_rotation: limit, examples }, box, change) => {
  // In pixels: where to draw, a pen's width, how far from the middle a digit may lie.
  const GREYS = 15, MARGIN = 4, BRUSH = 1.6, OFF = 3;
  const column = (index) => index % side, line = (index) => Math.floor(index / side);
  // A picture as hexadecimal greys, row by row; g to z stand for 1 to 20 zeros.
  const zeros = (run) => String.fromCharCode(102 + run.length), ofZeros = (letter) => "0".repeat(letter.charCodeAt(0) - 102);
  const write = (greys) => greys.map((grey) => grey.toString(16)).join("").replace(/0{1,20}/g, zeros);
  const greysOf = (text) => Array.from(text.replace(/[g-z]/g, ofZeros), (grey) => parseInt(grey, 16));
  const parse = (text) => {
    const [picture, angle, digit] = text.split(".");
    return { greys: greysOf(picture), angle: Number(angle), digit };
  };
  const joined = ({ greys, angle, digit }) => `${write(greys)}.${angle}.${digit}`;
  // The picture turned about its centre, counter-clockwise as it is seen, bilinearly; what comes from outside is 0.
  function turned({ greys, angle }) {
    const centre = (side - 1) / 2, cos = Math.cos(angle * Math.PI / 180), sin = Math.sin(angle * Math.PI / 180);
    const at = (x, y) => (x >= 0 && x < side && y >= 0 && y < side ? greys[y * side + x] / GREYS : 0);
    return greys.map((_, index) => {
      const right = column(index) - centre, down = line(index) - centre;
      const x = cos * right - sin * down + centre, y = sin * right + cos * down + centre;
      const left = Math.floor(x), top = Math.floor(y), a = x - left, b = y - top;
      const between = (row) => (1 - a) * at(left, row) + a * at(left + 1, row);
      return (1 - b) * between(top) + b * between(top + 1);
    });
  }
  const blank = Array(side ** 2).fill(0);
  let own = { greys: [], angle: 0, digit: "" };
  const pen = { x: side / 2, y: side / 2 };
  const canvas = (words, role, more) => element("canvas", { width: side, height: side, role, "aria-label": words, ...more });
  const paper = canvas("Paper", "application", { class: "paper", tabindex: 0 }), seen = canvas("The picture as it is turned", "img");
  const range = element("input", { type: "range", min: -180, max: 180, step: 1 }), degrees = element("span", { class: "degrees" });
  const tell = (part) => change(joined({ ...own, ...part }));
  const drawn = choice([["", "not said"], ...Array.from("0123456789", (digit) => [digit, digit])], (digit) => tell({ digit }));
  const sample = choice([["", "choose"], ...Object.keys(examples).map((digit) => [digit, digit])], (digit) => {
    if (digit) tell({ greys: greysOf(examples[digit]), digit });
  });
  // Ink around the pen, less of it towards the brush's edge.
  function ink(x, y) {
    own.greys = own.greys.map((grey, index) => {
      const away = Math.hypot(column(index) + 0.5 - x, line(index) + 0.5 - y);
      return Math.max(grey, Math.round(GREYS * Math.min(1, Math.max(0, BRUSH + 0.4 - away))));
    });
  }
  // A stroke to a point, in steps of less than half a pixel.
  function stroke(x, y) {
    const from = { ...pen }, steps = Math.ceil(2.5 * Math.hypot(x - from.x, y - from.y)) || 1;
    for (let part = 1 / steps; part < 1 + 0.5 / steps; part += 1 / steps) ink(from.x + (x - from.x) * part, from.y + (y - from.y) * part);
    Object.assign(pen, { x, y });
    tell({});
  }
  const place = (event) => {
    const { left, top, width } = paper.getBoundingClientRect();
    return [(event.clientX - left) * side / width, (event.clientY - top) * side / width];
  };
  paper.addEventListener("pointerdown", (event) => {
    paper.setPointerCapture(event.pointerId);
    [pen.x, pen.y] = place(event);
    stroke(pen.x, pen.y);
  });
  paper.addEventListener("pointermove", (event) => { if (event.buttons) stroke(...place(event)); });
  paper.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!move) return;
    event.preventDefault();
    const [x, y] = [pen.x + move[0], pen.y + move[1]].map((each) => Math.min(side - 0.5, Math.max(0.5, each)));
    if (event.shiftKey) stroke(x, y);
    Object.assign(pen, { x, y });
    paint(paper, own.greys.map((grey) => grey / GREYS), true);
  });
  range.addEventListener("input", () => tell({ angle: Number(range.value) }));
  const clear = button("Clear", () => tell({ greys: blank, digit: "" }));
  // A picture of values from 0 to 1, bright on dark; on the paper a frame to draw in, and the pen.
  function paint(canvas, values, guided = false) {
    const context = canvas.getContext("2d"), image = context.createImageData(side, side);
    values.forEach((value, index) => {
      const x = column(index), y = line(index), last = side - MARGIN, pens = document.activeElement === paper;
      const frame = Math.max(Math.abs(x - (side - 1) / 2), Math.abs(y - (side - 1) / 2)) === last - (side - 1) / 2;
      const grey = Math.max(Math.round(255 * value), guided && frame ? 45 : 0);
      const marked = guided && pens && x === Math.floor(pen.x) && y === Math.floor(pen.y);
      image.data.set(marked ? [230, 120, 40, 255] : [grey, grey, grey, 255], 4 * index);
    });
    context.putImageData(image, 0, 0);
  }
  const figure = (picture, words) => element("figure", {}, picture, element("figcaption", {}, words));
  box.append(
    element("div", { class: "pictures" }, figure(paper, "Draw here"), figure(seen, "The networks see")),
    element("p", { class: "tools" }, element("label", {}, "Turned by ", degrees, " degrees", range)),
    element("p", { class: "tools" }, clear, element("label", {}, "An example ", sample), element("label", {}, "What you drew ", drawn)),
    element("p", { class: "soft small" }, "What you drew is only asked so that answers can be marked right or wrong; the networks do not see it."),
  );
  keys(paper, "The arrow keys move the pen, with Shift they draw.");
  return {
    first: joined(examples[7] ? { greys: greysOf(examples[7]), angle: 0, digit: 7 } : { greys: blank, angle: 0, digit: "" }),
    read(text) {
      const found = parse(text);
      const pictured = found.greys.length === side ** 2 && !found.greys.some(Number.isNaN);
      return pictured && Math.abs(found.angle) <= 180 && /^[0-9]?$/.test(found.digit ?? "x") ? joined(found) : null;
    },
    inputs: (text) => [turned(parse(text)).map((value) => (value - mean) / deviation)],
    truths: (text) => [parse(text).digit || null],
    says(logits) {
      const { index, sure } = likeliest(logits);
      return { text: `${index}`, sure };
    },
    sentence(text) {
      const { angle, digit } = parse(text);
      return `${digit ? `This is a ${digit}` : "Which digit this is was not said"}${angle ? `, turned by ${angle} degrees` : ""}.`;
    },
    empty: (text) => (parse(text).greys.some(Boolean) ? "" : "Nothing drawn yet."),
    unlike(text) {
      const { greys, angle } = parse(text);
      const all = greys.reduce((sum, grey) => sum + grey, 0);
      const middle = [column, line].map((of) => greys.reduce((sum, grey, index) => sum + grey * of(index), 0) / all);
      if (Math.abs(angle) > limit) return `in training digits were turned by at most ${limit} degrees`;
      return middle.some((each) => Math.abs(each - (side - 1) / 2) > OFF) ? "in training digits lay in the middle" : "";
    },
    draw(text) {
      own = parse(text);
      paint(paper, own.greys.map((grey) => grey / GREYS), true);
      paint(seen, turned(own));
      range.value = own.angle;
      degrees.textContent = own.angle;
      drawn.value = own.digit;
      sample.value = "";
    },
  };
};
