/** Who is signed in. The session's token lives in this tab's `sessionStorage`, and nowhere else. */
import { signal, computed } from "../lib.js";
import { change, credentials, forget, Problem } from "./api.js";

/** @typedef {{id: string, token: string, expires_at: string, who: string}} Session */

const KEY = "baton.session";
/** A session is renewed once less than this is left of it. */
const RENEWED_BEFORE_SECONDS = 6 * 60;
const LOOKED_AT_SECONDS = 20;

/** @type {import("../vendor/signals.js").Signal<Session | null>} */
const session = signal(kept());
/** Why the reader has to sign in again. */
export const ended = signal("");

export const isSignedIn = computed(() => session.value !== null);
export const who = computed(() => session.value?.who ?? "");
export const sessionId = computed(() => session.value?.id ?? "");

credentials.token = () => session.value?.token ?? null;
credentials.refused = () => {
  if (session.value) end("Your session is over. Sign in again to go on where you were.");
};

/** Exchanges a human's token for a session. Raises Problem for any other token. @param {string} token */
export async function signIn(token) {
  keep(await change("POST", "/sessions", {}, { token }));
}

/** A one-use code in the address, as the command line makes it: used up, and out of the address at once. Where somebody
 * is signed in it is only returned: a link that others made must not change unseen in whose name one acts.
 * @returns {Promise<string | null>} */
export async function redeemFromAddress() {
  const code = /^#code=([\w.-]+)$/.exec(location.hash)?.[1];
  if (!code) return null;
  history.replaceState(null, "", `${location.pathname}#/`);
  dispatchEvent(new HashChangeEvent("hashchange"));
  if (session.value) return code;
  try {
    await redeem(code);
  } catch (error) {
    ended.value = error instanceof Problem ? `The link's code didn't work: ${error.message}` : String(error);
  }
  return null;
}

/** Signs in by a code, whoever was before. @param {string} code */
export async function redeem(code) {
  keep(await change("POST", "/sessions/redeem", { code }));
}

/** Ends the session on the server as well. */
export async function signOut() {
  const id = session.value?.id;
  try {
    if (id) await change("DELETE", `/tokens/${id}`);
  } catch {
    // It ends by itself within minutes.
  }
  end("");
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
    const told = await change("POST", "/sessions/renew", {});
    if (session.value?.id === before.id) store({ ...before, expires_at: told.expires_at });
  } catch {
    // A refusal has ended the session by now; anything else is tried again.
  }
}

/** @param {{session_id: string, session_token: string, expires_at: string, principal: {id: string}}} told */
function keep(told) {
  forget();
  ended.value = "";
  store({ id: told.session_id, token: told.session_token, expires_at: told.expires_at, who: told.principal.id });
}

/** @param {Session} next */
function store(next) {
  sessionStorage.setItem(KEY, JSON.stringify(next));
  session.value = next;
}

/** @param {string} why */
function end(why) {
  sessionStorage.clear();
  forget();
  ended.value = why;
  session.value = null;
}

/** @returns {Session | null} */
function kept() {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEY) || "null");
    return found && Date.parse(found.expires_at) > Date.now() ? found : null;
  } catch {
    return null;
  }
}
