/** The session of this tab. A cookie that no script reads has half of the secret. A tab sends the session's id and the
 * other half with each request. Tabs share sessions (`sessions.js`): a sign-out ends one in all tabs. */
import { signal, computed } from "../lib.js";
import { change, credentials, forget, pause } from "./api.js";
import { leadTo } from "./router.js";
import { beginnings, ELSEWHERE, endings, NO_COOKIE, NO_HALF, OVER } from "./session_ends.js";
import { hasEnded, lastUsed, pin, pinned, reader, share } from "./sessions.js";
import { session as kept, sessionOf, unshare, use } from "./sessions.js";
export { onSignIn, onSignOut } from "./session_ends.js";

/** @typedef {import("./sessions.js").Session} Session */
/** A session is renewed once less than this is left of it. */
const RENEWED_BEFORE_SECONDS = 2 * 3600;
const LOOKED_AT_SECONDS = 20;
/** As long as a person may wait for a sign-out whose requests nothing answers. */
const LEAVING_MS = 7000;
const NEW = { "Baton-Session": "new" };

const session = signal(/** @type {Session | null} */ (null));
/** Why the reader has to sign in again. */
export const ended = signal("");
/** What was decided on and didn't get through before the session ended. */
export const lost = signal(/** @type {string[]} */ ([]));
/** True while what waits is sent, before the session goes. */
export const isLeaving = signal(false);

export const isSignedIn = computed(() => session.value !== null);
export const who = computed(() => session.value?.who ?? "");
export const workspace = computed(() => session.value?.workspace ?? "");
export const sessionId = computed(() => session.value?.id ?? "");

/** Whose session was the last one of this page, and where it was left.
 * @type {{who: string, workspace: string, hash: string} | null} */
let last = null;

credentials.session = () => session.value?.id ?? null;
credentials.named = (id) => {
  const key = session.value?.id === id ? session.value.key : kept(id)?.key;
  return key ? `${id}.${key}` : id;
};
credentials.refused = (id, code) => {
  if (!session.value || id !== session.value.id || isLeaving.value) return;
  unshare(id);
  isOver(code === "not_authenticated" ? NO_COOKIE : OVER);
};

/** A tab goes on as who it was; a new one as who was there last, or who can read what its link names. */
export async function begin() {
  const mine = pinned();
  const found = mine ? kept(mine.id) ?? sessionOf(mine) : await reader(lastUsed(), location.hash);
  if (found) enter(found);
  else if (mine) isMissing(mine.id);
  addEventListener("storage", look);
  addEventListener("pageshow", look);
  addEventListener("focus", used);
  document.addEventListener("visibilitychange", () => { used(); look(); });
  setInterval(look, LOOKED_AT_SECONDS * 1000);
  look();
}

/** The browser no longer stores the session of a tab that was loaded again. A refused request drops its cookie.
 * @param {string} id */
function isMissing(id) {
  ended.value = hasEnded(id) ? OVER : NO_HALF;
  unshare(id);
  void change("POST", "/sessions/renew", {}, { session: id, isQuiet: true }).catch(() => {});
}

/** A new tab is of who was at the desk last. */
function used() {
  if (session.value && document.visibilityState === "visible") use(session.value.id);
}

/** What other tabs have done, and whether it is time to renew; a tab that nobody sees does it as well. */
function look() {
  const mine = session.value;
  if (isLeaving.value) return;
  if (!mine) {
    const again = last && pinned() ? sessionOf(last) : null; // the same person has signed in, in another tab
    if (again) enter(again);
    return;
  }
  const now = kept(mine.id);
  if (!now) {
    const isEarly = Date.parse(mine.expires_at) > Date.now();
    if (isEarly) void endOnServer(mine).catch(() => {});
    isOver(isEarly ? ELSEWHERE : OVER);
    return;
  }
  if (now.expires_at !== mine.expires_at) session.value = now;
  const left = (Date.parse(now.expires_at) - Date.now()) / 1000;
  if (left < RENEWED_BEFORE_SECONDS && now.expires_at < now.ends_at) void renew(now);
}

/** Exchanges a human's token for a session. Raises Problem for any other token. @param {string} token */
export async function signIn(token) {
  opened(await change("POST", "/sessions", {}, { session: "", headers: { ...NEW, Authorization: `Bearer ${token}` } }));
}

/** Signs this tab in by a code: whose it was before stays signed in elsewhere. Who is here already goes on, and leaves
 * the code as it was. Throws where something was lost by the change: it is told before, and the code is still good.
 * @param {import("./sessions.js").Offer} offer */
export async function redeem(offer) {
  const there = sessionOf(offer);
  await leave();
  if (there) enter(there);
  else opened(await change("POST", "/sessions/redeem", { code: offer.code }, { session: "", headers: NEW }));
}

/** This tab goes on as somebody else who is signed in here; null: as whoever signs in next.
 * @param {string | null} id */
export async function changeTo(id) {
  await leave();
  const found = id === null ? null : kept(id);
  if (found) enter(found);
  else if (session.value) end("");
}

/** What waits is sent in the name of whose it is, before the tab is another's. */
async function leave() {
  if (!session.value) return;
  lost.value = [];
  tell(await Promise.all(endings.map((ending) => ending(credentials.session()))));
  if (lost.value.length > 0) throw new Error(lost.value.join(" "));
}

/** Ends the session, on the server and in all tabs. What waits is sent first, by the session itself. */
export async function signOut() {
  const mine = session.value;
  if (!mine || isLeaving.value) return;
  lost.value = [];
  const sending = Promise.all(endings.map((ending) => ending(mine.id)));
  isLeaving.value = true;
  const over = sending.then(async (found) => {
    tell(found);
    await endOnServer(mine);
  });
  await Promise.race([over.catch(() => {}), pause(LEAVING_MS)]);
  isLeaving.value = false;
  unshare(mine.id);
  end("");
  leadTo("#/");
}

/** The answer drops the cookie, too. @param {Session} of @returns {Promise<any>} */
const endOnServer = (of) => change("DELETE", `/tokens/${of.id}`, undefined, { session: of.id, isQuiet: true });

/** @param {string} why */
function isOver(why) {
  void Promise.all(endings.map((ending) => ending(null))).then((found) => tell(found));
  end(why);
}

/** @param {(string[] | void)[]} found */
function tell(found) {
  lost.value = [...lost.value, ...found.flatMap((words) => words ?? [])];
}

/** @param {Session} before */
async function renew(before) {
  try {
    const { expires_at, ends_at } = await change("POST", "/sessions/renew", {}, { isQuiet: true });
    share({ ...before, expires_at, ends_at });
    if (session.value?.id === before.id) session.value = { ...before, expires_at, ends_at };
  } catch {
    // A refusal has ended the session by now; anything else is tried again.
  }
}

/** @param {{session_id: string, session_key: string, expires_at: string, ends_at: string,
 *   principal: {id: string, workspace: string}}} answer */
function opened({ session_id: id, session_key: key, expires_at, ends_at, principal }) {
  const made = { id, key, who: principal.id, workspace: principal.workspace, expires_at, ends_at };
  share(made);
  enter(made);
}

/** What was typed, and where one was, is for the person who left it alone. @param {Session} next */
function enter(next) {
  const before = session.value ? { ...session.value, hash: location.hash } : last;
  const isSame = before?.who === next.who && before.workspace === next.workspace;
  if (before && !isSame && before.hash === location.hash) leadTo("#/");
  forget();
  ended.value = "";
  lost.value = [];
  pin(next);
  session.value = next;
  used();
  for (const begins of beginnings) begins(isSame);
}

/** @param {string} why "" for who wanted it: the tab is nobody's then */
function end(why) {
  if (session.value) last = { who: session.value.who, workspace: session.value.workspace, hash: location.hash };
  if (why === "") pin(null);
  forget();
  ended.value = why;
  session.value = null;
}
