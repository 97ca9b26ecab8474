/** The sessions of this browser, as its tabs know them: ids, people, workspaces, ends, and half of each secret. The
 * other half is in a cookie that no page can read; the cookie goes to every port of the host, this half to this one
 * alone (docs/decisions/112-a-cookie-is-half-of-a-secret.md). A tab names a session, and stays with it
 * (docs/decisions/101-a-session-that-no-page-can-read.md). What a link signs in, and whose session it is for. */
import { change, get, Problem, ROOT } from "./api.js";
import { leadTo, matched, placeOf } from "./router.js";
import { keysOf, local, tab } from "./storage.js";

/** `key`: the page's half of the secret.
 * @typedef {{id: string, key: string, who: string, workspace: string, expires_at: string, ends_at: string}} Session */
/** Whose a tab is. @typedef {{id: string, who: string, workspace: string}} Pin */

/** Each has a key of its own, so that no tab overwrites what another one has just written. */
const SHARED = `baton.session ${ROOT.pathname} `;
const LAST = `baton.last ${ROOT.pathname}`;
const MINE = "baton.session";

/** The sessions that haven't ended. An earlier release stored no key. @returns {Session[]} */
function sessions() {
  const found = keysOf(local).filter((key) => key.startsWith(SHARED)).map((key) => read(local, key));
  return /** @type {Session[]} */ (found.filter((each) => each?.key && Date.parse(each.expires_at) > Date.now()));
}

/** True if this browser has had the session until it ended. @param {string} id */
export const hasEnded = (id) => Boolean(read(local, SHARED + id)?.key);

/** @param {string} id @returns {Session | null} */
export const session = (id) => sessions().find((each) => each.id === id) ?? null;

/** @param {Session} one */
export const share = (one) => local.setItem(SHARED + one.id, JSON.stringify(one));

/** @param {string} id */
export const unshare = (id) => local.removeItem(SHARED + id);

/** The one that a person used last comes first. @returns {Session[]} */
export function lastUsed() {
  const last = local.getItem(LAST);
  return sessions().sort((one, other) => Number(other.id === last) - Number(one.id === last));
}

/** @param {string} id */
export const use = (id) => local.setItem(LAST, id);

/** Whose this tab is, also after a reload. @returns {Pin | null} */
export const pinned = () => read(tab, MINE);

/** @param {Pin | null} pin null: nobody's any more */
export function pin(pin) {
  if (pin) tab.setItem(MINE, JSON.stringify({ id: pin.id, who: pin.who, workspace: pin.workspace }));
  else tab.removeItem(MINE);
}

/** The same person's, in the same workspace. @param {{who: string, workspace: string}} of */
export const sessionOf = ({ who, workspace }) => (
  sessions().find((each) => each.who === who && each.workspace === workspace) ?? null);

/** @param {Storage} storage @param {string} key @returns {any} */
function read(storage, key) {
  try {
    return JSON.parse(storage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/** Whom a link signs in. @typedef {{code: string, who: string, workspace: string}} Offer */

/** The one-use code of a link, such as the command line makes: out of the address at once. @returns {string | null} */
export function codeFromAddress() {
  const code = /^#code=([\w.-]+)$/.exec(location.hash)?.[1] ?? null;
  if (code) leadTo("#/");
  return code;
}

/** Whom a code would sign in. It isn't used up by that. @param {string} code @returns {Promise<Offer>} */
export async function lookAt(code) {
  const { principal } = await change("POST", "/sessions/redeem", { code, look: true }, { session: "" });
  return { code, who: principal.id, workspace: principal.workspace };
}

/** Pages of one thing, and where the API has it. @type {[string, string][]} */
const THINGS = [
  ["/tasks/:id", "/tasks/"],
  ["/handoffs/:id", "/handoffs/"],
  ["/reviews/:id", "/manual-reviews/"],
  ["/chat/:id", "/conversations/"],
  ["/memory/:id", "/blackboard/"],
];

/** Where a browser has several: the first that can read what the link names.
 * @param {Session[]} sessions the one that was used last first @param {string} hash
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
