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
GAMES.digits = {"name": "digits", "profile": "reduced", "what": "MNIST's handwritten digits, 28x28 pixels, turned by up to 22.5 degrees", "facts": {"name": "digits", "train_rotation": 22.5, "test_rotations": [22.5, 45.0, 67.5, 90.0], "data": "mnist", "validation": 5000, "test_angles": [-90.0, -80.0, -70.0, -60.0, -50.0, -40.0, -30.0, -20.0, -10.0, 0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0], "side": 28, "mean": 0.1307, "deviation": 0.3081, "examples": {"0": "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000004027b7740000000000000000001beeeffffee500000000000000009fffdbaabffe3000000000000003efd4210008ffa100000000000003ff600000008ff400000000000004f9000000000df90000000000000bf60000000009fd0000000000002de30000000005fd0000000000007fa00000000005fd000000000000de400000000005fd000000000000dc000000000005fd000000000001dc000000000005fd000000000006fc00000000000afc000000000006fc00000000003ef4000000000006fc0000000003afb0000000000004ec000000000afd30000000000000dd10000039cff400000000000000dfcbbbbbeffe91000000000000005cffffffffe7000000000000000002cfffff96000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "1": "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000008f70000000000000000000000000bff3000000000000000000000000bf810000000000000000000000002a10000000000000000000000000021000000000000000000000000000000000000000000000000000001000000000000000000000000000a700000000000000000000000000a8000000000000000000000000004320000000000000000000000003511000000000000000000000000460000000000000000000000000075000000000000000000000000039400000000000000000000000006f400000000000000000000000005750000000000000000000000004501000000000000000000000000ac000000000000000000000000018600000000000000000000000000ab400000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "2": "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000028f6000000000000000000000000981b400000000000000000000007900930000000000000000000005d30078000000000000000000000c600099000000000000000000006d1000d300000000000000000000ab0004c000000000000000000000840004b000000000000000000000000007600000000000000000000000000b300000000000000000000000003c0000000000000000000001532089000000000000000000001cedd6e1000000000000000000009f319fa000000000000000000000cb004ff800000000000000000000c400984d80027200000000000000c403c202ba991000000000000000c41b700001200000000000000000979b1000000000000000000000002db200000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "3": "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000389658831000000000000000007cffffffffc1000000000000000cffffeeedfff4000000000000000ea9443220ffe2000000000000000100000004ff9000000000000000000000004eff500000000000000000000004eff700000000000000000000003cffb10000000000000000000001cffe10000000000000000000001effb14999999961000000000000afff8cfffffffffc300000000002ffffffffedddddffc00000000002fffdaa442000008ff00000000001cd7000000000008ff0000000000000000000000001efb000000000000000000000000afd200000000000000000210014affa000000000000000000ed77afff910000000000000000005dffffc600000000000000000000016994000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "4": "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000003500000000000000000000000000930000000000000000001b000001b00000000000000000008500000860000000000000000001d100000c100000000000000000058000006600000000000000000009600000c10000000000000000001e100005700000000000000000001b000007500000000000000000004900000c100000000000000000007500002e10000000000000000000b400006900000000000000000000c70009e600000000000000000000c704b5b300000000000000000000bfeb20c100000000000000000000284001d000000000000000000000000003c000000000000000000000000006900000000000000000000000000880000000000000000000000000093000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "5": "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000610000000000000000000003efffffbffffd761777000000000effffffffffffffeffc000000003ff9921111113999e41100000000aff10000000000001000000000008ff10000000000000000000000001ffa30000000000000000000000008ffea100000000000000000000001afffa1000000000000000000000003cffa1000000000000000000000001cffc3000000000000000000000002befc40000000000000000000000006efe40000000000000000006100006efc100000000000000000e100000cff5000000000000000009a20000cff5000000000000000006fd9213efd2000000000000000000defffffd5000000000000000000003efff920000000000000000000000004000000000000000000000000000000000000000000000000000000000000000000000", "6": "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000c400000000000000000000000003e600000000000000000000000008f100000000230000000000000008f100000008ff800000000000000af10000002fb8f60000000000000cc00000007f50cd0000000000000ce10000007d007f3000000000000cc0000000ab003f3000000000000ce1000001e9001e70000000000008f1000001f7002e70000000000008f1000001f8004f30000000000008f1000001f7004f20000000000004f5000001f7009c00000000000001e8000000c701d700000000000000dc000000b709f400000000000000bf000000b84f90000000000000002f7000007ddd10000000000000000bf600008fe4100000000000000001bfb8adffec4000000000000000001affda41430000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "7": "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000111168888aff8100000000000000ccfffffffffffa00000000000000cfffcbbbbbbdfc00000000000000233310000001fe30000000000000000000000006ff40000000000000000000000007ff4000000000000000000000001bfc100000000000000000000001bfc1000000000000000000000004ff7000000000000000000000001cff1003000000000000010000003fff9ff90000000000499ca9999aaffffd710000000001fffffffffffffda1000000000001c99cab999cffd200000000000000100100000efb1000000000000000000000000ffa0000000000000000000000001ff40000000000000000000000005fe20000000000000000000000000fd100000000000000000000000009c00000000000000000000000000000000000000000000000000000000000000000000", "8": "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000299ffffdb9700000000000000006efffeeeeeffd300000000000000dffb51002355bd200000000000007ff7100000002f600000000000002bffb10000002d1000000000000002dffa1000000022320000000000002dff80000013cec100000000000002dff5015afff800000000000000001cfe9cfff830000000000000000002ffffe7300000000000000000002dffff4000000000000000000003efe8dfd00000000000000000003eff302dfa000000000000000001bfe50004ff400000000000000007ff500002efb0000000000000000af90000007fe2000000000000000af70000007ff30000000000000006ffa8555aefe200000000000000005fffffffff900000000000000000139effffe7000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "9": "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000006cb4000000000000000000000009912d60000000000000000000006a00013000000000000000000000c100035000000000000000000004900005c000000000000000000008700004e20000000000000000000b80001caa00000000000000000004d103c73e300000000000000000009edc3008a000000000000000000003300001c7000000000000000000000000003e6000000000000000000000000005e3000000000000000000000000008c100000000000000000000000001d5000000000000000000000000008800000000000000000000000000b800000000000000000000000001d500000000000000000000000008b0000000000000000000000016ce5000000000000000000026acfe60000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"}}, "met": "", "networks": [{"mechanism": "act", "title": "ACT", "setting": "tau", "cell": "conv_mlp", "max_steps": 20, "epsilon": 0.01, "runs": [{"setting": 0.01, "seed": 0, "file": "mnist_rotated-act-0.01-0", "tested": "1.33 steps on average, 12.5% of answers wrong"}]}, {"mechanism": "pondernet", "title": "PonderNet", "setting": "lambda_p", "cell": "conv_mlp", "max_steps": 20, "epsilon": 0, "runs": [{"setting": 0.2, "seed": 0, "file": "mnist_rotated-pondernet-0.2-0", "tested": "4.58 steps on average, 13.2% of answers wrong"}]}]};
