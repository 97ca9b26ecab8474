/** Texts that show something else than they contain: hidden characters, mixed alphabets, look-alike words and blank
 * gaps. */
import { pieces } from "../said.js";
import { finding } from "./places.js";

/** @typedef {import("./places.js").Finding} Finding */
/** @typedef {import("./places.js").Text} Text */

const MOST_CHARACTERS = 1_000_000;
/** Letters by alphabet: ranges that JavaScript and Python read alike. */
const LATIN = String.raw`A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff`;
/** @type {Record<string, string>} */
const OTHERS = {
  Greek: String.raw`\u0370-\u03ff\u1f00-\u1fff`,
  Cyrillic: String.raw`\u0400-\u052f\u1c80-\u1c8f\ua640-\ua69f`,
  mathematical: String.raw`\u{1d400}-\u{1d7ff}`,
  // All others except Han, Kana and Hangul, which stand beside Latin letters without blanks.
  other: String.raw`\u0250-\u02af\u0530-\u10ff\u1200-\u1c7f\u1c90-\u1dbf\u2100-\u214f\u2160-\u218f\u2c00-\u2dff`
    + String.raw`\ua4d0-\ua63f\ua6a0-\uabff\ufb13-\ufdff\ufe70-\ufefc\uff01-\uff5a`
    + String.raw`\u{10000}-\u{1afef}\u{1b170}-\u{1cfff}\u{1d800}-\u{1efff}\u{1fb00}-\u{1fbff}`,
};
const ALL = Object.values(OTHERS).join("");
const LETTERS = new RegExp(String.raw`(?:[0-9${LATIN}\u0300-\u036f]|(?![\p{P}\p{S}\p{Z}])[${ALL}])+`, "gu");
const IS_LATIN = new RegExp(`[${LATIN}]`, "u");
const IS_OTHER = Object.entries(OTHERS).map(([name, letters]) => ({ name, is: new RegExp(`[${letters}]`, "u") }));
const HAS_LETTER = new RegExp(`[${LATIN}${ALL}]`, "u");
/** Lines without anything on them, or blanks, behind which the text continues. */
const BLANK = String.raw`[ \t\r\xa0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]`;
const RUN = new RegExp(String.raw`(?:${BLANK}|\n)+`, "gu");
const MOST_BLANKS = 60;
const MOST_LINES = 8;
const WORD = new RegExp(String.raw`[0-9A-Za-z_\u0080-\u{10ffff}](?:[0-9A-Za-z_.@+|\u0080-\u{10ffff}\-]*`
  + String.raw`[0-9A-Za-z_|\u0080-\u{10ffff}])?`, "gu");
const NAME_LIKE = /[@._-]/;
const SHORTEST_LOOKALIKE = 3;
/** Letters of other alphabets and digits, and below each the Latin letter that it looks like. */
const LOOKS = new Map([
  ["1I|0O\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u051b\u051d\u0261",
    "lllooaeopcyxijsdhqwg"],
  ["\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405", "abekmhopctyxljs"],
  ["\u03bf\u03b1\u03bd\u03c1\u03c5\u03b9\u03ba", "oavpuik"],
  ["\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7", "abezhlkmnoptyx"],
].flatMap(([from = "", to = ""]) => [...from].map((letter, at) => /** @type {const} */ ([letter, to[at] ?? ""]))));

/** The hidden characters of the texts, each with its place. Texts beyond MOST_CHARACTERS are counted and reported.
 * @param {Text[]} texts @returns {Finding[]} */
export function inspected(texts) {
  /** @type {Finding[]} */
  const found = [];
  let [room, beyond] = [MOST_CHARACTERS, 0];
  for (const { at, text } of texts) {
    const length = [...text].length;
    room -= length;
    if (room < 0) {
      beyond += length;
      continue;
    }
    const codes = new Set(pieces(text).flatMap((piece) => ("code" in piece ? [piece.code] : [])));
    if (codes.size > 0) found.push(finding("hidden", at, [...codes].join(" ")));
    const mixed = mixedWords(text);
    if (mixed.length > 0) {
      found.push(finding("alphabets", at, mixed.map((each) => `${each} (${foreign(each)})`).join(" ")));
    }
    if (hasGap(text)) found.push(finding("gap", at));
  }
  found.push(...similarNames(texts));
  if (beyond > 0) found.push(finding("uninspected", "", String(beyond)));
  return found;
}

/** Words with letters of two alphabets, digits of two scripts, or mathematical letters. @param {string} text */
export function mixedWords(text) {
  if (/^[\0-\x7f]*$/.test(text)) return [];
  const isMixed = (/** @type {string} */ word) => {
    const others = IS_OTHER.filter(({ is }) => is.test(word));
    return others.length > 1 || others.some(({ name }) => name === "mathematical")
      || (others.length > 0 && (IS_LATIN.test(word) || (/[0-9]/.test(word) && /(?![0-9])\p{Nd}/u.test(word))));
  };
  return [...new Set(text.match(LETTERS) ?? [])].filter(isMixed);
}

/** @param {string} word */
const foreign = (word) => [...new Set(word)].filter((letter) => IS_OTHER.some(({ is }) => is.test(letter)))
  .map((letter) => `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`).join(" ");

/** @param {string} text */
const hasGap = (text) => [...text.matchAll(RUN)].some(({ 0: run, index }) => {
  const lines = run.split("\n");
  const isLong = lines.length > MOST_LINES || lines.some((each) => each.length >= MOST_BLANKS);
  return isLong && index + run.length < text.length;
});

/** @param {Text[]} texts */
function similarNames(texts) {
  /** @type {Map<string, string>} */
  const seen = new Map();
  return texts.flatMap(({ at, text, parent }) => {
    if (parent === null) return [];
    const key = JSON.stringify([parent, skeleton(text, true)]);
    const first = seen.get(key) ?? text;
    seen.set(key, first);
    return first === text ? [] : [finding("lookalike", at, text, first)];
  });
}

/** The source and the target of a handoff, where another agent's name looks like theirs.
 * @param {{source_agent: string, target_agent: string | null}} task @param {string[]} slugs @returns {Finding[]} */
export function confusableAgents({ source_agent: source, target_agent: target }, slugs) {
  return [["source.agent", source], ["target.agent", target ?? ""]].flatMap(([at = "", slug = ""]) => {
    const like = slugs.find((each) => each !== slug && skeleton(each, true) === skeleton(slug, true));
    return slug && like ? [finding("confusable", at, slug, like)] : [];
  });
}

/** @param {string} word @param {boolean} isName */
function skeleton(word, isName) {
  const plain = [...word.normalize("NFKC")].map((letter) => LOOKS.get(letter) ?? letter).join("").toLowerCase();
  return isName ? plain.replaceAll("rn", "m").replaceAll("vv", "w") : plain;
}

/** Words that look like a word of an earlier request or of this one, and aren't that word.
 * @param {Text[]} texts @param {Text[]} earlier @returns {Finding[]} */
export function lookalikes(texts, earlier) {
  /** @type {Map<string, string>} */
  const known = new Map();
  const exact = new Set();
  for (const text of earlier) {
    for (const [word, lower, key] of keysOf(text)) {
      exact.add(lower);
      if (!known.has(key)) known.set(key, word);
    }
  }
  return texts.flatMap(({ at, text }) => wordsOf(text).flatMap((word) => {
    if (exact.has(word.toLowerCase()) || [...word].length < SHORTEST_LOOKALIKE || !HAS_LETTER.test(word)) return [];
    const key = keyOf(word, text);
    const like = known.get(key) ?? word;
    known.set(key, like);
    return like.toLowerCase() === word.toLowerCase() || !HAS_LETTER.test(like)
      ? [] : [finding("lookalike", at, word, like)];
  }));
}

/** Words of earlier texts in lower case and as they look, as long as the texts are kept.
 * @type {WeakMap<Text, [string, string, string][]>} */
const kept = new WeakMap();

/** @param {Text} text */
function keysOf(text) {
  const keys = kept.get(text) ?? wordsOf(text.text).map((word) =>
    /** @type {[string, string, string]} */ ([word, word.toLowerCase(), keyOf(word, text.text)]));
  kept.set(text, keys);
  return keys;
}

/** @param {string} word @param {string} text */
const keyOf = (word, text) => skeleton(word, word === text.trim() || NAME_LIKE.test(word));

/** @param {string} text */
const wordsOf = (text) => [...new Set(text.match(WORD) ?? [])];
