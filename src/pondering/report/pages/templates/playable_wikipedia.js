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
