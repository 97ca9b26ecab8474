/** Whose session a link is for, where a browser has several: the first that can read what it names. */
import { get, Problem } from "./api.js";
import { matched, placeOf } from "./router.js";

/** @typedef {import("./sessions.js").Session} Session */
/** Pages of one thing, and where the API has it. @type {[string, string][]} */
const THINGS = [
  ["/tasks/:id", "/tasks/"],
  ["/handoffs/:id", "/handoffs/"],
  ["/reviews/:id", "/manual-reviews/"],
  ["/chat/:id", "/conversations/"],
  ["/memory/:id", "/blackboard/"],
];

/** @param {Session[]} sessions the one that was used last first @param {string} hash
 * @returns {Promise<Session | null>} */
export async function reader(sessions, hash) {
  const path = apiPath(hash);
  if (path && sessions.length > 1) {
    for (const session of sessions) {
      const isRead = get(path, undefined, session.id).then(() => true, isUnanswered);
      if (await isRead) return session;
    }
  }
  return sessions[0] ?? null;
}

const isUnanswered = (/** @type {unknown} */ error) => error instanceof Problem && error.status === 0;

/** @param {string} hash */
function apiPath(hash) {
  const { path, query } = placeOf(hash);
  if (path === "/alerts" && query.alert) return `/alerts/${encodeURIComponent(query.alert)}`;
  for (const [page, api] of THINGS) {
    const id = matched(page, path)?.id;
    if (id) return api + encodeURIComponent(id);
  }
  return null;
}
