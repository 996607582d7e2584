// On a narrow screen what is long begins folded; a link opens whatever holds its target.
const narrow = matchMedia("(max-width: 46rem)").matches;
for (const fold of document.querySelectorAll("details.fold")) fold.open = !narrow;
function reveal(target) {
  for (let each = target; each; each = each.parentElement) if (each.localName === "details") each.open = true;
  target?.scrollIntoView();
}
const named = () => document.getElementById(decodeURIComponent(location.hash.slice(1)));
addEventListener("hashchange", () => reveal(named()));
if (location.hash) reveal(named());
document.querySelector("nav.contents ul").addEventListener("click", (event) => {
  if (narrow && event.target.localName === "a") event.target.closest("details").open = false;
});

// A click on a figure, or Enter on its button, shows it large; the arrow keys walk on, Escape ends.
const slides = document.querySelector("dialog.slides"), stage = slides.querySelector(".stage");
const figures = [...document.querySelectorAll("figure")];
let shown = null, place = null;
function putBack() {
  place?.replaceWith(stage.firstChild);
  place = null;
}
function show(figure) {
  putBack();
  const drawing = figure.querySelector(".drawing"), at = figures.indexOf(figure) + 1;
  place = document.createElement("span");
  drawing.replaceWith(place);
  stage.append(drawing);
  shown = figure;
  slides.querySelector("#slide").textContent = `${figure.querySelector("h3").textContent} (${at} of ${figures.length})`;
  if (!slides.open) slides.showModal();
}
const walk = (by) => show(figures.at((figures.indexOf(shown) + by) % figures.length));
for (const figure of figures) {
  const button = figure.querySelector(".enlarge");
  button.hidden = false;
  button.addEventListener("click", () => show(figure));
  figure.querySelector(".drawing").addEventListener("click", () => {
    if (!slides.open && getSelection().isCollapsed) show(figure);
  });
}
slides.addEventListener("keydown", (event) => {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  walk(by);
});
slides.addEventListener("click", (event) => {
  const by = event.target.closest("button")?.value;
  if (by === "0" || event.target === slides) slides.close();
  else if (by) walk(Number(by));
});
slides.addEventListener("close", () => {
  putBack();
  reveal(shown);
  shown.querySelector(".enlarge").focus({ preventScroll: true });
});
