/** What agents wrote, as text: characters that hide or reorder others become visible marks. */

// Controls, formats (bidi, zero-width, tags), lone surrogates, private use, line separators, fillers, variation selectors, joiners.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;
const PLAIN = new Set(["\n", "\t"]);
const PICTURE = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|[#*0-9]|\ufe0f/u;

/** @type {Record<string, string>} */
const NAMES = {
  "00AD": "soft hyphen", "061C": "Arabic letter mark", "200B": "zero-width space", "200C": "zero-width non-joiner",
  "200D": "zero-width joiner", "200E": "left-to-right mark", "200F": "right-to-left mark", "202A": "left-to-right embedding",
  "202B": "right-to-left embedding", "202C": "pop directional formatting", "202D": "left-to-right override",
  "202E": "right-to-left override", "2060": "word joiner", "2066": "left-to-right isolate", "2067": "right-to-left isolate",
  "2068": "first strong isolate", "2069": "pop directional isolate", "FEFF": "byte order mark", "001B": "escape", "0000": "null",
};

/** @typedef {{text: string} | {code: string, name: string}} Piece */

/** A text in pieces: what is plain, and each hidden character by its number.
 * @param {string} text @returns {Piece[]} */
export function pieces(text) {
  /** @type {Piece[]} */
  const found = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const [character] = match;
    if (PLAIN.has(character) || isInPicture(text, match.index, character)) continue;
    if (match.index > from) found.push({ text: text.slice(from, match.index) });
    found.push(mark(character));
    from = match.index + character.length;
  }
  if (from < text.length) found.push({ text: text.slice(from) });
  return found;
}

/** The same as one plain text, for titles and attributes. @param {string} text */
export function plain(text) {
  return pieces(text).map((piece) => ("text" in piece ? piece.text : `⟨${piece.code}⟩`)).join("");
}

/** Joiner and emoji selector inside of an emoji are no trick. @param {string} text @param {number} at @param {string} character */
function isInPicture(text, at, character) {
  if (character !== "\u200d" && character !== "\ufe0f") return false;
  const before = [...text.slice(Math.max(0, at - 2), at)].pop() ?? "";
  return PICTURE.test(before) && (character === "\ufe0f" || PICTURE.test(text.slice(at + 1, at + 3)));
}

/** @param {string} character */
function mark(character) {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return { code: `U+${code}`, name: NAMES[code] ?? "hidden character" };
}
