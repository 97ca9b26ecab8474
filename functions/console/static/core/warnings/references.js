/** The references in a text: addresses, accounts, files, and the syntax of commands and queries. */
import { finding } from "./places.js";

/** @typedef {import("./places.js").Finding} Finding */
/** @typedef {import("./places.js").Text} Text */
/** The compared text, and the shown text. @typedef {[string, string][]} Found */

const URL_LIKE = /(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]+:[/\\]{2,}([^\s/?#\\"'<>]*)[^\s"'<>]*/gu;
const LOCAL = String.raw`0-9A-Za-z_.+\u0080-\u{10ffff}\-`;
const LABEL = String.raw`[0-9A-Za-z\u0080-\u{10ffff}\-]+`;
const MAIL = new RegExp(String.raw`(?<![${LOCAL}])[${LOCAL}]+@${LABEL}(?:\.${LABEL})*`, "gu");
const IP = /(?<![0-9.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![0-9.])/gu;
const HOST = /^(?:[0-9A-Za-z-]+\.)+[A-Za-z]{2,}(?::[0-9]+)?(?=\/|$)/u;
/** Hosts without a scheme: before a path, behind `//` or `\\`, with `www.` or a usual ending. */
const BARE = new RegExp(String.raw`(?<![${LOCAL}@/\\:])(?://((?:${LABEL}\.)+[A-Za-z]{2,})|\\\\(${LABEL}(?:\.${LABEL})*)`
  + String.raw`\\|(www\.(?:${LABEL}\.)+[A-Za-z]{2,}|(?:${LABEL}\.)+(?:[A-Za-z]{2,}(?=(?::[0-9]+)?/)|(?:com|net|org)`
  + String.raw`(?![0-9A-Za-z_\-]|\.[0-9A-Za-z]))))`, "gu");
const HOST_AND_PATH = /^(?:\/\/[^\s]+|(?:[0-9A-Za-z-]+\.)+[A-Za-z]{2,}(?::[0-9]+)?(?:\/[^\s]*)?)$/u;
/** Endings of files, which make a name no host. */
const FILE = new RegExp(String.raw`\.(?:py|js|ts|tsx|jsx|md|txt|json|ya?ml|toml|ini|cfg|conf|log|csv|pdf|html?|css|xml|`
  + String.raw`sql|sh|go|rs|java|rb|php|lock|docx?|xlsx?|png|jpe?g|gif|svg|webp|zip|gz|tar|env|pem|key)$`, "i");
const ibanOf = (/** @type {string} */ start, /** @type {string} */ sign) =>
  `${start}{2}[0-9]{2}(?:[^0-9A-Za-z\n]?${sign}{4}){2,7}(?:[^0-9A-Za-z\n]?${sign}{1,3})?`;
const IBAN = new RegExp(`(?<![0-9A-Za-z])(?:${ibanOf("[A-Z]", "[0-9A-Z]")}|${ibanOf("[A-Za-z]", "[0-9]")})`
  + "(?![0-9A-Za-z])", "gu");
/** Hexadecimal, Bech32, and Base58 with letters of both cases and a digit. */
const WALLET = new RegExp(String.raw`(?<![0-9A-Za-z])(?:0x[0-9A-Fa-f]{40}|bc1[0-9a-z]{20,60}|`
  + String.raw`[a-z]{2,10}1[02-9ac-hj-np-z]{38,100}|(?=[1-9A-Z]*[a-z])(?=[1-9a-z]*[A-Z])(?=[A-Za-z]*[1-9])`
  + String.raw`[1-9A-HJ-NP-Za-km-z]{25,110})(?![0-9A-Za-z])`, "gu");
const NAME = String.raw`0-9A-Za-z_.@+\-`;
const BACKSLASHES = new RegExp(String.raw`(?<![${NAME}:\\])(?:\\[${NAME}]{2,}){2,}`, "gu");
const PATH = new RegExp(String.raw`(?<![0-9A-Za-z_.+/~\\\-])(?:(?:~[0-9A-Za-z_\-]*|\.{1,2})?(?:/[${NAME}]*[A-Za-z_.]`
  + String.raw`[${NAME}]*)+/?|[A-Za-z]:\\[^\s"']+|(?:[0-9A-Za-z_.+\-]+/)+[0-9A-Za-z_@+\-]*\.[0-9A-Za-z]{1,8}`
  + String.raw`(?![0-9A-Za-z_/]))`, "gu");
const SENSITIVE = new RegExp(String.raw`/etc/(?:shadow|passwd|sudoers|ssh)|(?:^|/)\.(?:ssh|aws|kube|gnupg|git|netrc|`
  + String.raw`npmrc|pypirc|env)(?![${NAME}])|(?:^|/)id_(?:rsa|ed25519|ecdsa)|(?:^|[^0-9A-Za-z_./])/(?:root|proc|boot)`
  + String.raw`(?![${NAME}])`, "u");
/** Syntax of shells, SQL and templates, by name. @type {[string, RegExp][]} */
const SYNTAX = [
  ["SQL condition", new RegExp(String.raw`\b(?:or|and)\s+\(?['"]?([0-9A-Za-z_]+)['"]?\s*=\s*['"]?\1\b|`
    + String.raw`['"]\s*(?:or|and|union)\b`, "i")],
  ["SQL statement", new RegExp(String.raw`\bunion\s+(?:all\s+)?select\b|\bdrop\s+(?:table|database)\b|`
    + String.raw`;\s*(?:drop|delete|insert|update|alter|truncate|grant|create|exec)\b`, "i")],
  ["SQL comment", /['");]\s*--|--\s*$|\/\*[^*]{0,200}\*\//i],
  ["shell substitution", /\$\(|\$\{|\$[A-Z_]{2,}/i],
  ["shell chain", /&&|\|\||;\s*(?:rm|curl|wget|sh|bash|nc|python3?|sudo|cat|chmod|ev(?:al))\b/i],
  ["shell pipe", /\|\s*(?:sudo\s+)?(?:sh|bash|zsh|python3?|perl|nc|tee|xargs)\b/i],
  ["shell removal", /\brm\s+-[a-z]*[rf]|\bchmod\s+[0-7]{3,4}\b|\bsudo\s/i],
  ["parent folder", /(?:^|[/\\])\.\.(?:[/\\]|$)/i],
  ["template or script", /\{\{|\{%|<script|javascript:|data:text/i],
];

/** @param {string} text */
const decoded = (text) => text
  .replace(/%(?:25)*(2[b-f]|[3-6][0-9a-f]|7[0-9a-e])/gi, (_, code) => String.fromCharCode(parseInt(code, 16)))
  .replace(/(?<![0-9A-Za-z])file:[/\\]+/gi, "/").replace(BACKSLASHES, (found) => found.replaceAll("\\", "/"));

/** @param {string} given @returns {Found} */
function addresses(given) {
  const text = decoded(given);
  /** @type {Found} */
  const found = [];
  for (const [url, authority = ""] of text.matchAll(URL_LIKE)) {
    const host = authority.slice(authority.lastIndexOf("@") + 1).toLowerCase();
    if (host) found.push([host, authority.includes("@") ? url : host]);
  }
  const rest = text.replace(URL_LIKE, " ");
  for (const [, one, two, three = ""] of rest.matchAll(BARE)) {
    const host = (one ?? two ?? three).toLowerCase();
    if (!FILE.test(host)) found.push([host, host]);
  }
  for (const [mail] of rest.matchAll(MAIL)) found.push([mail.toLowerCase(), mail]);
  for (const [ip] of rest.matchAll(IP)) found.push([ip, ip]);
  const whole = text.trim();
  if (HOST_AND_PATH.test(whole) && !FILE.test(whole)) {
    const [authority = ""] = whole.replace(/^\/\//, "").split("/");
    const host = authority.slice(authority.lastIndexOf("@") + 1).toLowerCase();
    found.push([host, host]);
  }
  return found;
}

/** @param {string} text @returns {Found} */
const accounts = (text) => [...text.matchAll(IBAN), ...text.matchAll(WALLET)]
  .map(([account]) => [account.replace(/[^0-9A-Za-z]/g, ""), account]);

/** @param {string} given @returns {Found} */
function paths(given) {
  const text = decoded(given);
  /** @type {Found} */
  const found = [...text.replace(URL_LIKE, " ").matchAll(PATH)].flatMap(([shown]) => {
    const path = shown.replaceAll("\\", "/").replace(/\.+$/, "");
    const isHost = HOST.test(path) && !/^[./~]/.test(path) && !FILE.test(path);
    return isHost ? [] : [[folderOf(path), shown]];
  });
  const secrets = found.filter(([, shown]) => SENSITIVE.test(shown.replaceAll("\\", "/")));
  const words = text.split(/[\s"'<>]+/).map((each) => each.replace(/^[([{`]+|(?<![.,;:!?)\]}`])[.,;:!?)\]}`]+$/g, ""))
    .filter((word) => word.includes("/") && SENSITIVE.test(word) && !secrets.some(([, shown]) => word.includes(shown)));
  for (const word of words) found.push([folderOf(word), word]);
  return found;
}

/** @param {string} path */
function folderOf(path) {
  /** @type {string[]} */
  const parts = [];
  for (const part of path.split("/").slice(0, -1)) {
    if (part === ".." && parts.length > 0 && !["..", ""].includes(parts.at(-1) ?? "")) parts.pop();
    else if (![".", ""].includes(part) || (part === "" && parts.length === 0)) parts.push(part);
  }
  return parts.join("/") || (path.startsWith("/") ? "/" : "");
}

/** @param {string} text @returns {Found} */
const commands = (text) => SYNTAX.flatMap(([name, is]) => {
  const [found] = is.exec(text) ?? [];
  return found === undefined ? [] : [[name, `${name}: ${found.trim()}`]];
});

/** Findings in texts, as long as the texts are kept: earlier requests are compared many times.
 * @type {WeakMap<Text, Map<(text: string) => Found, Found>>} */
const kept = new WeakMap();

/** @param {(text: string) => Found} find @param {Text} text @returns {Found} */
function foundIn(find, text) {
  const known = kept.get(text) ?? new Map();
  kept.set(text, known);
  const found = known.get(find) ?? find(text.text);
  known.set(find, found);
  return found;
}

/** Addresses, accounts, folders and commands that no earlier request has.
 * @param {Text[]} now @param {Text[]} earlier @returns {Finding[]} */
export function newReferences(now, earlier) {
  return [...added("address", addresses, now, earlier), ...added("account", accounts, now, earlier),
    ...added("command", commands, now, earlier), ...newFiles(now, earlier)];
}

/** @param {Text[]} now @param {Text[]} earlier @returns {Finding[]} */
function newFiles(now, earlier) {
  const mine = now.flatMap(({ at, text }) => paths(text).map(([folder, path]) => ({ at, folder, path })));
  if (mine.length === 0) return []; // earlier texts are read for nothing
  const known = new Map(earlier.flatMap((text) => foundIn(paths, text)).map(([folder, path]) => [path, folder]));
  const folders = [...new Set(known.values())].sort();
  return mine.filter(({ folder, path }) => !known.has(path)
    && (SENSITIVE.test(path) || !folders.some((one) => isInside(folder, one))))
    .map(({ at, path }) => finding("path", at, path, folders.slice(0, 3).join(", ")));
}

/** @param {string} folder @param {string} known */
const isInside = (folder, known) => (known === "" ? !/^(?:\/|~|\.\.)/.test(folder)
  : folder === known || (known !== "/" && folder.startsWith(`${known}/`)));

/** @param {Text[]} now @returns {Finding[]} */
export const sensitivePaths = (now) => now.flatMap(({ at, text }) => paths(text)
  .filter(([, path]) => SENSITIVE.test(path)).map(([, path]) => finding("path", at, path)));

/** @param {string} kind @param {(text: string) => Found} find @param {Text[]} now @param {Text[]} earlier */
function added(kind, find, now, earlier) {
  const mine = now.flatMap(({ at, text }) => find(text).map(([each, shown]) => ({ at, each, shown })));
  if (mine.length === 0) return [];
  const known = new Set(earlier.flatMap((text) => foundIn(find, text)).map(([each]) => each));
  return mine.filter(({ each }) => !known.has(each)).map(({ at, shown }) => finding(kind, at, shown));
}

/** Each address, account, folder and command of a request that can't be compared; rare folders first.
 * @param {Text[]} now @returns {Finding[]} */
export function references(now) {
  /** @type {Map<string, Finding[]>} */
  const folders = new Map();
  for (const { at, text } of now) {
    for (const [folder, path] of paths(text)) {
      folders.set(folder, [...folders.get(folder) ?? [], finding("path", at, path)]);
    }
  }
  const rare = [...folders.values()].sort((one, other) => one.length - other.length).flatMap(([first]) => first ?? []);
  return [...added("address", addresses, now, []), ...added("account", accounts, now, []),
    ...added("command", commands, now, []), ...rare];
}
