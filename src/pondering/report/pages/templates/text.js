// Without this every character is a stop of the tab key; with it each text is one stop and the arrow keys walk through it.
for (const text of document.querySelectorAll(".running")) {
  const all = [...text.querySelectorAll(".c")];
  all.forEach((one, index) => { one.tabIndex = index ? -1 : 0; });
  text.addEventListener("keydown", (event) => {
    const here = all.indexOf(document.activeElement);
    const moves = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: all.length - 1 };
    const next = all[moves[event.key]];
    if (here < 0 || !next) return;
    event.preventDefault();
    all[here].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}
