// A link opens the folded part that holds its target.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let each = target; each; each = each.parentElement) if (each.localName === "details") each.open = true;
  target?.scrollIntoView();
}
addEventListener("hashchange", reveal);
if (location.hash) reveal();
