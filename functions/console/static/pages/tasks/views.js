/** Views of the list: some that everybody has, and those that the reader saved on this device. */

/** @typedef {{name: string, query: Record<string, string>}} View */
const KEY = "baton.views";

/** @type {View[]} */
export const VIEWS = [
  { name: "Today", query: {} },
  { name: "Needs a person", query: { state: "needs" } },
  { name: "Under way", query: { state: "delegated,next,claimed,waiting" } },
  { name: "Flagged", query: { flagged: "1" } },
  { name: "Went wrong", query: { state: "failed,rejected" } },
  { name: "Done", query: { state: "done" } },
];

/** @returns {View[]} */
export function saved() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? found.filter((view) => typeof view?.name === "string" && typeof view.query === "object") : [];
  } catch {
    return [];
  }
}

/** @param {string} name @param {Record<string, string>} query */
export function keep(name, query) {
  return store([...saved().filter((view) => view.name !== name), { name, query }]);
}

/** @param {string} name */
export function drop(name) {
  return store(saved().filter((view) => view.name !== name));
}

/** @param {View[]} views */
function store(views) {
  localStorage.setItem(KEY, JSON.stringify(views));
  return views;
}
