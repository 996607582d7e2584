// Text: bytes, each of which asks for the next one.
TASKS.wikipedia = ({ sequence, source, made }, box, change) => {
  const known = source === "generated" ? made : null;
  const bytes = (text) => [...new TextEncoder().encode(text)];
  const shown = (byte) => (byte === 10 ? "↵" : (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "�"));
  const spoken = (byte) => ({ 10: "line break", 32: "space" }[byte] ?? `“${shown(byte)}”`);
  const MOST = 3 * sequence; // characters that one may write
  const field = element("textarea", { rows: 3, maxlength: MOST, spellcheck: "false" });
  field.addEventListener("input", () => { if (field.value) change(field.value); });
  box.append(element("label", {}, "Write here ", field));
  return {
    first: "Lout vus brushuspo lou. <id>2107607</id>",
    read: (text) => text.slice(0, MOST) || null,
    inputs: bytes,
    truths: (text) => bytes(text).map((_, t, all) => (t + 1 < all.length ? spoken(all[t + 1]) : null)),
    says(logits) {
      const { index, sure } = likeliest(logits);
      return { text: spoken(index), sure };
    },
    cell(text, t) {
      const byte = bytes(text)[t];
      return { name: spoken(byte), shown: shown(byte) };
    },
    sentence(text, at) {
      const all = bytes(text), next = all[at + 1];
      const before = all.slice(Math.max(0, at - 11), at + 1).map(shown).join("");
      return `After “${before}” comes ${next === undefined ? "what you write next" : spoken(next)}.`;
    },
    unlike(text) {
      const all = bytes(text), foreign = all.find((byte) => known && !known.includes(byte));
      if (foreign !== undefined) return `in training ${spoken(foreign)} was never read`;
      return all.length > sequence ? `in training sequences had ${sequence} bytes, this one has ${all.length}` : "";
    },
    draw(text) {
      if (field.value !== text) field.value = text;
    },
  };
};
GAMES.wikipedia = {"name": "wikipedia", "what": "a wiki-like text made by this project, sequences of 40 bytes; LSTM of 64", "facts": {"name": "wikipedia", "source": "generated", "sequence": 40, "made": [10, 32, 44, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 60, 62, 66, 67, 68, 70, 71, 72, 75, 76, 77, 78, 80, 82, 83, 84, 86, 97, 98, 99, 100, 101, 102, 103, 104, 105, 107, 108, 109, 110, 111, 112, 114, 115, 116, 117, 118, 120]}, "networks": [{"mechanism": "act", "title": "ACT", "setting": "tau", "cell": "lstm", "max_steps": 4, "epsilon": 0.01, "runs": [{"setting": 0.1, "seed": 0, "file": "wikipedia-act-0.1-0"}]}, {"mechanism": "pondernet", "title": "PonderNet", "setting": "lambda_p", "cell": "lstm", "max_steps": 3, "epsilon": 0, "runs": [{"setting": 0.6, "seed": 0, "file": "wikipedia-pondernet-0.6-0"}]}]};
