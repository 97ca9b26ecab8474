/** What agents wrote, as text: characters that hide or reorder others become visible marks. */

// The class of hidden characters of baton/domain/hidden.py, which a test compares.
// Emoji, and signs that are drawn as such; letters that are spelled with joiners; what shows nothing or reorders.
const PICTURE = String.raw`[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf`
  + String.raw`\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\u{1f000}-\u{1faff}]`;
const JOINED = String.raw`[\u0620-\u077f\u08a0-\u08ff\u0900-\u0dff]`;
const HIDING = String.raw`[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f`
  + String.raw`\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u2d7f\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0`
  + String.raw`\ufff0-\ufffc\ufffe\uffff\u{1107f}\u{13430}-\u{13442}\u{16fe4}\u{1bc9d}\u{1bca0}-\u{1bca3}\u{1d159}`
  + String.raw`\u{1d173}-\u{1d17a}\u{e0000}-\u{10ffff}]`;
const HIDDEN = String.raw`${HIDING}(?<!${PICTURE}[\ufe0e\ufe0f])(?<!${JOINED}[\u200c\u200d])(?:(?<![#*0-9]\ufe0f)|`
  + String.raw`(?!\u20e3))(?:(?<!${PICTURE}\u200d)(?<!${PICTURE}\ufe0f\u200d)|(?!${PICTURE}))`;
const EACH = new RegExp(HIDDEN, "gu");

/** @type {Record<string, string>} */
const NAMES = {
  "00AD": "soft hyphen", "061C": "Arabic letter mark", "200B": "zero-width space", "200C": "zero-width non-joiner",
  "200D": "zero-width joiner", "200E": "left-to-right mark", "200F": "right-to-left mark",
  "202A": "left-to-right embedding", "202B": "right-to-left embedding", "202C": "pop directional formatting",
  "202D": "left-to-right override", "202E": "right-to-left override", "2060": "word joiner",
  "2066": "left-to-right isolate", "2067": "right-to-left isolate", "2068": "first strong isolate",
  "2069": "pop directional isolate", "FEFF": "byte order mark", "001B": "escape", "0000": "null",
};

/** @typedef {{text: string} | {code: string, name: string}} Piece */

/** A text in pieces: what is plain, and each hidden character by its number.
 * @param {string} text @returns {Piece[]} */
export function pieces(text) {
  /** @type {Piece[]} */
  const found = [];
  let from = 0;
  for (const match of text.matchAll(EACH)) {
    const [character] = match;
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

/** JSON with an escape for each hidden character: the same value, which a field shows whole.
 * @param {string} json */
export function escaped(json) {
  const escape = (/** @type {string} */ unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.replace(EACH, (character) => character.split("").map(escape).join(""));
}

const FENCE = /^\s{0,3}(`{3,}|~{3,})(.*)$/;
const TRACE = /^\s*Traceback \(most recent call last\):\s*$|^\s+at \S+.*[:(]\d+|^\s+at [\w$.<>]+\(.*\)\s*$/;

/** `code`: drawn as code. `label`: what stood beside the fence.
 * @typedef {{code: boolean, label: string, text: string}} Part */

/** A text in parts: prose, and what is fenced off as code or looks like a program's trace. Of what was written only a
 * fence's own marks are left out.
 * @param {string} text @returns {Part[]} */
export function partsOf(text) {
  /** @type {Part[]} */
  const found = [];
  /** @type {string[]} */
  let lines = [];
  let fence = "";
  let [isTrace, label] = [false, ""];
  const end = () => {
    if (lines.length > 0 || label) found.push({ code: fence !== "" || isTrace, label, text: lines.join("\n") });
    [lines, label] = [[], ""];
  };
  for (const line of text.split("\n")) {
    const mark = FENCE.exec(line);
    const isIn = !fence && (TRACE.test(line) || (isTrace && isOfTrace(line, lines.at(-1) ?? "")));
    if (fence && mark && mark[1]?.startsWith(fence) && !mark[2]?.trim()) {
      end();
      fence = "";
    } else if (!fence && mark && !mark[2]?.includes("`")) {
      end();
      [isTrace, fence, label] = [false, mark[1] ?? "", mark[2]?.trim() ?? ""];
    } else {
      if (isIn !== isTrace) end();
      isTrace = isIn;
      lines.push(line);
    }
  }
  end();
  return found;
}

const NAMES_ERROR = /^[\w.$]+:|^[\w.$]*(Error|Exception|Exit|Interrupt)\b/;

/** A trace goes on by what is indented, and ends with the line that names the error.
 * @param {string} line @param {string} before */
const isOfTrace = (line, before) => /^\s+\S/.test(line) || (/^\s+\S/.test(before) && NAMES_ERROR.test(line));

/** @param {string} character */
function mark(character) {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return { code: `U+${code}`, name: NAMES[code] ?? "hidden character" };
}
