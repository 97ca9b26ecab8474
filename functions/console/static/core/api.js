/** Requests to the API of the same origin. Nothing here knows a page. */
import { signal } from "../lib.js";
import { sending } from "./busy.js";
import { parsed } from "./json.js";

/** @typedef {{field: string, message: string}} FieldError */
/** @typedef {"GET" | "POST" | "PUT" | "DELETE"} Method */
/** `body`: the same object as long as nothing has changed. @typedef {{status: number, body: any}} Answer */

/** The API's root: the console is served below it, at `console/…`. */
export const ROOT = new URL(location.pathname.replace(/\/console(\/.*)?$/, "/"), location.origin);

/** False from a request that found no network until one that did. */
export const isOnline = signal(true);
/** A refusal, as the API's problem details tell it. `status` 0: nothing answered. */
export class Problem extends Error {
  /** @param {number} status @param {Record<string, any>} told @param {number} [retryAfter] seconds */
  constructor(status, told, retryAfter) {
    super(String(told.detail || told.title || `The API answered ${status}.`));
    this.status = status;
    this.code = String(told.code || "");
    this.told = told;
    /** @type {FieldError[]} */
    this.errors = Array.isArray(told.errors) ? told.errors : [];
    this.requestId = String(told.request_id || "");
    this.retryAfter = retryAfter;
  }
}

/** @typedef {{agent_version?: number, agent_versions?: Record<string, number>}} LookedAt */
/** @param {Record<string, any>} told @returns {LookedAt} */
export const lookedAt = ({ agent_versions: versions, version }) =>
  (versions ? { agent_versions: versions } : { agent_version: version });

/** The person behind a request, as the id of a session; the session sets it. `named`: the header, with the page's
 * half of the secret. The browser adds the other half.
 * @type {{session: () => string | null, named: (session: string) => string,
 *   refused: (session: string, code: string) => void}} */
export const credentials = { session: () => null, named: (session) => session, refused: () => {} };

/** `at`: the number of changes known of when it was read. @type {Map<string, {tag: string, body: any, at: number}>} */
const seen = new Map();
/** A long list that changes has other pages each time: those that are asked for again stay. */
const KEPT = 40;
/** An answer of half a minute ago will do: what the API makes of tasks it then needn't make anew. All else is of
 * now. */
const RECENT = { "Cache-Control": "max-age=30" };

/** How many reads are under way. */
let reading = 0;
const CALM_MS = 100, MOST_CALM = 20;

/** Until what the page begins with was read, or for two seconds: what is around it is asked for after it. */
export async function calm() {
  let left = MOST_CALM;
  do await pause(CALM_MS); while (reading > 0 && --left > 0);
}

let changes = 0;
/** Something has changed, by this page or to its knowledge: what was read before is read as it is now. */
export const readAnew = () => { changes += 1; };

/** A read. Asks with the last answer's tag, so an unchanged one costs next to nothing.
 * @param {string} path @param {AbortSignal} [stop] @returns {Promise<Answer>} */
export async function read(path, stop) {
  const [known, at, session] = [seen.get(path), changes, credentials.session()];
  const headers = /** @type {Record<string, string>} */ (
    known ? { "If-None-Match": known.tag, ...(known.at === at ? RECENT : {}) } : {});
  const init = { headers, ...(stop ? { signal: stop } : {}) };
  const { response, body } = await ofThisSession(session, async () => {
    reading += 1;
    try {
      const response = await sent("GET", path, init, session);
      return { response, body: response.status === 304 && known ? known.body : await content(response, session) };
    } finally {
      reading -= 1;
    }
  });
  const tag = response.headers.get("ETag");
  seen.delete(path);
  if (response.status === 304 && known) {
    seen.set(path, Object.assign(known, { tag: tag ?? known.tag, at }));
    return { status: 304, body };
  }
  if (tag) seen.set(path, { tag, body, at });
  if (seen.size > KEPT) seen.delete(/** @type {string} */ (seen.keys().next().value));
  return { status: response.status, body };
}

/** `session`: in whose name, before this tab is anybody's.
 * @param {string} path @param {AbortSignal} [stop] @param {string} [session] @returns {Promise<any>} */
export async function get(path, stop, session) {
  if (!session) return (await read(path, stop)).body;
  return content(await sent("GET", path, stop ? { signal: stop } : {}, session), session);
}

/** `leaving`: sent though the page goes away. `session`: whose change it is, "" for nobody's; otherwise that of the
 * session that is there when it is asked for, also when it is sent again later.
 * @typedef {{key?: string, session?: string, leaving?: boolean, headers?: Record<string, string>,
 *   isQuiet?: boolean}} How `isQuiet`: nobody waits for it */

/** A change. A lost answer is asked for again under the same key, so nothing is done twice.
 * @param {Method} method @param {string} path @param {unknown} [body] @param {How} [how] @returns {Promise<any>} */
export async function change(method, path, body, how = {}) {
  const session = how.session ?? credentials.session();
  const isOurs = session === credentials.session();
  const headers = /** @type {Record<string, string>} */ ({ ...how.headers, "Idempotency-Key": how.key || newKey() });
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const init = {
    headers, keepalive: how.leaving === true, ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  const count = (/** @type {number} */ by) => { if (!how.isQuiet) sending.value += by; };
  for (let attempt = 1; ; attempt += 1) {
    count(1);
    try {
      const answer = async () => content(await sent(method, path, init, session), session);
      return await (isOurs ? ofThisSession(session, answer) : answer());
    } catch (error) {
      if (!(error instanceof Problem) || attempt === 4 || !mayRepeat(method, error)) throw unclear(error);
      await pause(1000 * (error.retryAfter ?? 0.3 * 2 ** attempt));
    } finally {
      count(-1);
      readAnew();
    }
  }
}

/** A change that nothing answered may have been made: unlike a read, it isn't tried again by itself.
 * @param {unknown} error */
function unclear(error) {
  return error instanceof Problem && error.status === 0 ? new Problem(0, { detail: error.message, code: "unclear" })
    : error;
}

/** @param {string} path @param {unknown} [body] @param {How} [how] */
export const post = (path, body = {}, how) => change("POST", path, body, how);

/** @param {number} milliseconds @returns {Promise<void>} */
export const pause = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });

export const newKey = () => `console-${crypto.randomUUID()}`;

/** Forgets what was read: somebody else may sign in. */
export function forget() {
  seen.clear();
}

/** What a session has asked for is answered to nobody once it is over: what would be said or done then isn't the next
 * person's. @template T @param {string | null} session @param {() => Promise<T>} ask @returns {Promise<T>} */
async function ofThisSession(session, ask) {
  try {
    return await ask();
  } finally {
    if (session !== credentials.session()) await new Promise(() => {});
  }
}

/** A PUT has no key: repeated after a lost answer, it would seem to come second. 503 says that nothing was done.
 * @param {Method} method @param {Problem} problem */
function mayRepeat(method, problem) {
  return problem.status === 503 || (method !== "PUT" && (problem.status === 0 || problem.status === 502));
}

/** @param {Method} method @param {string} path @param {RequestInit} init @param {string | null} session
 * @returns {Promise<Response>} */
async function sent(method, path, init, session) {
  const given = /** @type {Record<string, string>} */ (init.headers);
  const headers = { ...(session ? { "Baton-Session": credentials.named(session) } : {}), ...given };
  let response;
  try {
    const how = /** @type {RequestInit} */ ({ credentials: "same-origin", redirect: "error", cache: "no-store" });
    response = await fetch(new URL(path.replace(/^\//, ""), ROOT), { ...init, method, headers, ...how });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    isOnline.value = false;
    throw new Problem(0, { title: "No answer", detail: "The API can't be reached.", code: "offline" });
  }
  isOnline.value = true;
  return response;
}

/** What ends in its middle is no answer: who asked goes on as if nothing had come. @param {Response} response */
async function bodyOf(response) {
  try {
    const text = await response.text();
    return response.headers.get("Content-Type")?.includes("json") ? parsed(text) : text;
  } catch {
    throw new Problem(0, { title: "No answer", detail: "The answer broke off.", code: "offline" });
  }
}

/** @param {Response} response @param {string | null} session in whose name it was asked @returns {Promise<any>} */
async function content(response, session) {
  const body = await bodyOf(response);
  if (response.ok) return body === "" ? null : body;
  const told = typeof body === "object" && body !== null ? body : { title: `The API answered ${response.status}.` };
  if (response.status === 401 || told.code === "token_refused") credentials.refused(session ?? "", String(told.code));
  throw new Problem(response.status, told, Number(response.headers.get("Retry-After")) || undefined);
}
