// Text: bytes, each of which asks for the next one.
TASKS.wikipedia = ({ sequence, source, made }, box, change, refuse) => {
  const known = source === "generated" ? made : null;
  const bytes = (text) => [...new TextEncoder().encode(text)];
  const shown = (byte) => (byte === 10 ? "↵" : (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "�"));
  const spoken = (byte) => ({ 10: "line break", 32: "space" }[byte] ?? `“${shown(byte)}”`);
  const MOST = 3 * sequence; // characters that one may write
  // Of each byte: its character, which part of that it is, and of how many.
  const owners = (text) => Array.from(text).flatMap((character) => {
    return bytes(character).map((byte, index, { length }) => ({ byte, character, part: index + 1, length }));
  });
  const named = ({ byte, character, part, length }) => (length > 1 ? `byte ${part} of ${length} of “${character}”` : spoken(byte));
  const field = element("textarea", { rows: 2, maxlength: MOST, spellcheck: "false", "aria-describedby": "play-wikipedia-help" });
  const help = element("p", { class: "soft small", id: "play-wikipedia-help" });
  field.addEventListener("input", () => {
    if (field.value) change(field.value);
    else {
      help.textContent = rules(0);
      refuse("Nothing written yet.");
    }
  });
  const rules = (length) => `${length} of ${MOST} characters${length < MOST ? "" : ": more are not read"}. The networks read bytes; é is two.`;
  box.append(element("label", {}, "Write here ", field), help);
  return {
    first: "Lout vus brushuspo lou. <id>2107607</id>",
    read: (text) => Array.from(text).slice(0, MOST).join("") || null,
    inputs: bytes,
    truths: (text) => bytes(text).map((_, t, all) => (t + 1 < all.length ? spoken(all[t + 1]) : null)),
    says(logits) {
      const { index, sure } = likeliest(logits);
      return { text: spoken(index), sure };
    },
    cell(text, t) {
      const own = owners(text)[t];
      return { name: named(own), shown: own.length === 1 ? shown(own.byte) : own.part === 1 ? own.character : "·" };
    },
    sentence(text, at) {
      const all = owners(text), next = all[at + 1];
      const before = all.slice(Math.max(0, at - 11), at + 1).filter(({ part }) => part === 1);
      const shownBefore = before.map(({ byte, character, length }) => (length > 1 ? character : shown(byte))).join("");
      return next ? `After “${shownBefore}” comes ${named(next)}.` : `Your text ends with “${shownBefore}”: no guess of what follows is right or wrong.`;
    },
    unlike(text) {
      const all = owners(text), foreign = all.find(({ byte }) => known && !known.includes(byte));
      if (foreign) return `in training ${foreign.length > 1 ? `“${foreign.character}”` : spoken(foreign.byte)} was never read`;
      return all.length > sequence ? `in training sequences had ${sequence} bytes, this one has ${all.length}` : "";
    },
    draw(text) {
      if (field.value !== text) field.value = text;
      help.textContent = rules(Array.from(text).length);
    },
  };
};
GAMES.wikipedia = {"name": "wikipedia", "profile": "quick", "what": "a wiki-like text made by this project, sequences of 40 bytes", "facts": {"name": "wikipedia", "source": "generated", "sequence": 40, "made": [10, 32, 44, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 60, 62, 66, 67, 68, 70, 71, 72, 75, 76, 77, 78, 80, 82, 83, 84, 86, 97, 98, 99, 100, 101, 102, 103, 104, 105, 107, 108, 109, 110, 111, 112, 114, 115, 116, 117, 118, 120]}, "met": ", 3% of which training had met", "networks": [{"mechanism": "act", "title": "ACT", "setting": "tau", "cell": "lstm", "max_steps": 4, "epsilon": 0.01, "runs": [{"setting": 0.1, "seed": 0, "file": "wikipedia-act-0.1-0", "tested": "1.15 steps on average, 2.51 bits per character"}]}, {"mechanism": "pondernet", "title": "PonderNet", "setting": "lambda_p", "cell": "lstm", "max_steps": 3, "epsilon": 0, "runs": [{"setting": 0.6, "seed": 0, "file": "wikipedia-pondernet-0.6-0", "tested": "3.00 steps on average, 2.51 bits per character"}]}]};
