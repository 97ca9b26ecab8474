/** Who is signed in. The session's token lives in this tab's `sessionStorage`, and nowhere else. */
import { signal, computed } from "../lib.js";
import { change, credentials, forget, pause } from "./api.js";
import { leadTo } from "./router.js";

/** @typedef {{id: string, token: string, expires_at: string, who: string, workspace: string}} Session */
/** Whom a link signs in. @typedef {{code: string, who: string, workspace: string}} Offer */
/** What a part of the page does when a session ends: it forgets what it holds of it, and returns what is lost by that, as
 * sentences. `token`: the session's own while it is still good, for what must be sent before; null once it is over.
 * @typedef {(token: string | null) => string[] | Promise<string[]> | void} Ending */

const KEY = "baton.session";
/** A session is renewed once less than this is left of it. */
const RENEWED_BEFORE_SECONDS = 6 * 60;
const LOOKED_AT_SECONDS = 20;
/** As long as a person may wait for a sign-out whose requests nothing answers. */
const LEAVING_MS = 7000;

/** @type {import("../vendor/signals.js").Signal<Session | null>} */
const session = signal(kept());
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

/** @type {Ending[]} */
const endings = [];
/** @type {((isSame: boolean) => void)[]} */
const beginnings = [];
/** Whose session was the last one of this page, and where it was left. @type {{who: string, workspace: string, hash: string} | null} */
let last = null;

/** What outlives a part of a page and belongs to a session registers here. @param {Ending} ending */
export const onSignOut = (ending) => { endings.push(ending); };
/** `isSame`: the person is the one whose session ended before. @param {(isSame: boolean) => void} beginning */
export const onSignIn = (beginning) => { beginnings.push(beginning); };

credentials.token = () => session.value?.token ?? null;
credentials.refused = (token) => {
  if (!session.value || token !== session.value.token || isLeaving.value) return;
  void Promise.all(endings.map((ending) => ending(null))).then((found) => tell(found));
  end("Your session is over. Sign in again to go on where you were.");
};

/** Exchanges a human's token for a session. Raises Problem for any other token. @param {string} token */
export async function signIn(token) {
  keep(await change("POST", "/sessions", {}, { token }));
}

/** The one-use code of a link, such as the command line makes: out of the address at once. @returns {string | null} */
export function codeFromAddress() {
  const code = /^#code=([\w.-]+)$/.exec(location.hash)?.[1] ?? null;
  if (code) leadTo("#/");
  return code;
}

/** Whom a code would sign in. It isn't used up by that. @param {string} code @returns {Promise<Offer>} */
export async function lookAt(code) {
  const { principal } = await change("POST", "/sessions/redeem", { code, look: true }, { token: "" });
  return { code, who: principal.id, workspace: principal.workspace };
}

/** Signs in by a code. Whoever was signed in is signed out first. Throws where something of theirs was lost by that: it is
 * told before, and the code is still good. @param {string} code */
export async function redeem(code) {
  const wasSignedIn = isSignedIn.value;
  await signOut();
  if (wasSignedIn && lost.value.length > 0) throw new Error(`The session before is over. ${lost.value.join(" ")}`);
  keep(await change("POST", "/sessions/redeem", { code }, { token: "" }));
}

/** Ends the session, on the server as well. What waits is sent first, by the session's own token. */
export async function signOut() {
  const mine = session.value;
  if (!mine || isLeaving.value) return;
  lost.value = [];
  const sending = Promise.all(endings.map((ending) => ending(mine.token)));
  isLeaving.value = true;
  const over = sending.then(async (found) => {
    tell(found);
    await change("DELETE", `/tokens/${mine.id}`, undefined, { token: mine.token });
  });
  await Promise.race([over.catch(() => {}), pause(LEAVING_MS)]); // unanswered, it ends by itself within minutes
  isLeaving.value = false;
  end("");
  leadTo("#/");
}

/** @param {(string[] | void)[]} found */
function tell(found) {
  lost.value = [...lost.value, ...found.flatMap((words) => words ?? [])];
}

/** Renews the session while the page is looked at. */
export function keepAlive() {
  const look = () => {
    const left = session.value ? (Date.parse(session.value.expires_at) - Date.now()) / 1000 : Infinity;
    if (left < RENEWED_BEFORE_SECONDS && document.visibilityState === "visible") void renew();
  };
  look();
  setInterval(look, LOOKED_AT_SECONDS * 1000);
  document.addEventListener("visibilitychange", look);
}

async function renew() {
  const before = session.value;
  if (!before) return;
  try {
    const renewed = await change("POST", "/sessions/renew", {});
    if (session.value?.id === before.id) store({ ...before, expires_at: renewed.expires_at });
  } catch {
    // A refusal has ended the session by now; anything else is tried again.
  }
}

/** What was typed, and where one was, is for the person who left it alone.
 * @param {{session_id: string, session_token: string, expires_at: string, principal: {id: string, workspace: string}}} opened */
function keep(opened) {
  const { id, workspace: where } = opened.principal;
  const isSame = last?.who === id && last.workspace === where;
  if (last && !isSame && last.hash === location.hash) leadTo("#/");
  forget();
  ended.value = "";
  lost.value = [];
  store({ id: opened.session_id, token: opened.session_token, expires_at: opened.expires_at, who: id, workspace: where });
  for (const begin of beginnings) begin(isSame);
}

/** @param {Session} next */
function store(next) {
  sessionStorage.setItem(KEY, JSON.stringify(next));
  session.value = next;
}

/** @param {string} why */
function end(why) {
  if (session.value) last = { who: session.value.who, workspace: session.value.workspace, hash: location.hash };
  sessionStorage.clear();
  forget();
  ended.value = why;
  session.value = null;
}

/** @returns {Session | null} */
function kept() {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEY) || "null");
    return found && Date.parse(found.expires_at) > Date.now() ? { workspace: "", ...found } : null;
  } catch {
    return null;
  }
}
