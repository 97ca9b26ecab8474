/** Conversations that were begun in this tab: the API lists none. They go with the tab, as its session does. */

/** @typedef {{id: string, agent: string, message: string, at: string}} Begun */
const KEY = "baton.chats";
const MOST = 30;

/** @returns {Begun[]} */
export function recent() {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}

/** @param {Begun} begun */
export function remember(begun) {
  sessionStorage.setItem(KEY, JSON.stringify([begun, ...recent().filter((each) => each.id !== begun.id)].slice(0, MOST)));
}
