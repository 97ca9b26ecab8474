/** Addresses: `#/path?filters`. What is in the address survives a reload, and can be sent to somebody. */
import { signal, computed } from "../lib.js";

/** @typedef {{path: string, query: Record<string, string>}} Place */

/** @param {string} hash @returns {Place} */
export function placeOf(hash) {
  const [path = "", search = ""] = hash.replace(/^#/, "").split("?", 2);
  return { path: path.startsWith("/") ? path : "/", query: Object.fromEntries(new URLSearchParams(search)) };
}

/** @param {string} path @param {Record<string, string | null | undefined>} [query] @returns {string} */
export function address(path, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const search = new URLSearchParams(/** @type {[string, string][]} */ (kept)).toString();
  return `#${path}${search ? `?${search}` : ""}`;
}

const hash = signal(location.hash);
addEventListener("hashchange", () => { hash.value = location.hash; });

/** What the page is about, for the tab's title; empty where its name says it. */
export const subject = signal("");

/** Where the reader is. */
export const place = computed(() => placeOf(hash.value));

/** @param {string} path @param {Record<string, string | null | undefined>} [query] */
export function go(path, query) {
  location.hash = address(path, query);
}

/** Another address in the place of this one. @param {string} to such as `#/start` */
export function leadTo(to) {
  history.replaceState(null, "", to);
  hash.value = location.hash;
}

/** Changes filters of the page at hand, without an entry in the history.
 * @param {Record<string, string | null | undefined>} changes */
export function setQuery(changes) {
  const { path, query } = place.value;
  leadTo(address(path, { ...query, ...changes }));
}

/** The values of `:name` parts, or null where the path is another one.
 * @param {string} pattern @param {string} path @returns {Record<string, string> | null} */
export function matched(pattern, path) {
  const wanted = pattern.split("/");
  const found = path.split("/");
  if (wanted.length !== found.length) return null;
  /** @type {Record<string, string>} */
  const values = {};
  for (const [index, part] of wanted.entries()) {
    const given = found[index] ?? "";
    if (part.startsWith(":")) values[part.slice(1)] = decoded(given);
    else if (part !== given) return null;
  }
  return values;
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
