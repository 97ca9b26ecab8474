/** What waits for a person, for the navigation, the tab's title and icon. A tab that nobody sees counts as well: when
 * it rings, and of several the first one alone, which tells the others. */
import { effect, signal } from "../lib.js";
import { calm, pause, Problem, ROOT } from "./api.js";
import { isHeard, looked } from "./bell.js";
import { parsed } from "./json.js";
import { looksSoFar, nextLook, readerOf } from "./live.js";
import { decided } from "./pending.js";
import { sessionId } from "./session.js";

/** At most `MOST` of each list: `needs`, handoffs to approve; `more`: there are more than are listed.
 * @typedef {{needs: import("api").ListedTask[], questions: import("api").QuestionView[],
 *   alerts: import("api").AlertView[], reviews: import("api").ReviewView[],
 *   changes: import("api").ChangeView[], more: string[]}} Waiting */

const EVERY_MS = 5000;
/** Of a tab that nobody sees, however often it rings; and after a trouble. */
const HIDDEN_MS = 10_000;
/** Rings reach the tabs of a browser at about the same time. */
const TOGETHER_MS = 1000;
/** More than a person decides on in a sitting: up to this number of a list is counted, and on the page of approvals. */
export const MOST = 300;
const LISTS = /** @type {const} */ ({
  needs: "/tasks?state=needs",
  questions: "/questions",
  alerts: "/alerts?state=open&snoozed=false",
  reviews: "/manual-reviews?state=open",
  changes: "/workspace/changes?state=pending",
});
/** @typedef {Record<keyof typeof LISTS, ReturnType<typeof readerOf>>} Readers */
/** Without a bell the last three are asked for each so many times: they change seldom. */
const SELDOM = 3;

/** @type {Waiting} */
const NOTHING = { needs: [], questions: [], alerts: [], reviews: [], changes: [], more: [] };
/** Null until it has been counted. @type {import("../vendor/signals.js").Signal<Waiting | null>} */
export const waiting = signal(null);
/** Another tab's count, and when it was begun. */
let told = { session: "", at: 0 };
const tabs = new BroadcastChannel(`baton.waiting ${ROOT.pathname}`);
/** As text: a long number is an object that no message carries. */
tabs.onmessage = (/** @type {MessageEvent} */ message) => {
  const data = parsed(message.data);
  if (data.session !== sessionId.value) return;
  told = data;
  waiting.value = data.found;
};

/** Counts as long as a session lasts. */
export function keepCounting() {
  effect(() => {
    waiting.value = null;
    if (!sessionId.value) return undefined;
    const stop = new AbortController();
    const readers = /** @type {Readers} */ (Object.fromEntries(
      Object.entries(LISTS).map(([name, path]) => [name, readerOf(path, MOST)])));
    void count(sessionId.value, readers, stop.signal);
    return () => stop.abort();
  });
}

/** The number, such as `7` or `300+`; empty for none. Requests that were decided here aren't counted.
 * @param {(keyof typeof LISTS)[]} lists */
export function many(...lists) {
  const { more, ...found } = waiting.value ?? NOTHING;
  const sum = lists.flatMap((list) => /** @type {{id: string}[]} */ (found[list]))
    .filter(({ id }) => !decided.value.has(id)).length;
  return sum > 0 ? `${sum}${lists.some((list) => more.includes(list)) ? "+" : ""}` : "";
}

const isHidden = () => document.visibilityState !== "visible";

/** @param {string} session @param {Readers} readers @param {AbortSignal} stop */
async function count(session, readers, stop) {
  await calm();
  for (let round = 0; !stop.aborted; round += 1) {
    const [before, woken] = [looksSoFar(), Date.now()];
    try {
      if (isHidden()) await inTurn(session, readers, stop, woken);
      else await ask(session, readers, stop, isHeard.value || round % SELDOM === 0);
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof Problem)) throw error;
      await pause(HIDDEN_MS);
    }
    await nextLook(before, EVERY_MS, stop, true);
    if (isHidden()) await Promise.race([pause(HIDDEN_MS - (Date.now() - woken)), looked(stop)]);
  }
}

/** One tab at a time; who comes to its turn takes what another one has counted since.
 * @param {string} session @param {Readers} readers @param {AbortSignal} stop @param {number} woken */
async function inTurn(session, readers, stop, woken) {
  await navigator.locks.request(`baton.count ${session}`, { signal: stop }, async () => {
    if (told.session !== session || told.at < woken - TOGETHER_MS) await ask(session, readers, stop, true);
  });
}

/** @param {string} session @param {Readers} readers @param {AbortSignal} stop @param {boolean} isWhole */
async function ask(session, readers, stop, isWhole) {
  const at = Date.now();
  const names = /** @type {(keyof typeof LISTS)[]} */ (Object.keys(LISTS).slice(0, isWhole ? undefined : 2));
  const lists = await Promise.all(names.map((name) => readers[name](stop)));
  const before = waiting.value ?? NOTHING;
  const more = before.more.filter((name) => !names.includes(/** @type {any} */ (name)));
  const found = /** @type {Waiting} */ ({ ...before, more });
  for (const [index, name] of names.entries()) {
    Object.assign(found, { [name]: lists[index]?.items ?? [] });
    if (lists[index]?.more) found.more.push(name);
  }
  waiting.value = found;
  tabs.postMessage(JSON.stringify({ session, at, found }));
}

/** What the tab is called, besides the count. */
export const pageTitle = signal("");
/** The icon as it is, and the badges beside it. */
const ICONS = new URL("../icons/", import.meta.url).href;

effect(() => {
  const waits = many("needs", "questions");
  document.title = [waits && `(${waits})`, pageTitle.value, pageTitle.value && "·", "Baton"].filter(Boolean).join(" ");
  const badge = !waits ? "../icon.svg" : waits.length > 1 ? "more.svg" : `${waits}.svg`;
  const icon = /** @type {HTMLLinkElement | null} */ (document.querySelector("link[rel=icon]"));
  if (icon) icon.href = new URL(badge, ICONS).href;
});
