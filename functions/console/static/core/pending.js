/** Decisions on their way. What the API can't take back waits three seconds before it is sent; who leaves the page or
 * signs out sends it. A decision belongs to who made it: it goes in the name of the session that it was made in, or it
 * is said to be lost. */
import { signal } from "../lib.js";
import { credentials, newKey, pause } from "./api.js";
import { onSignOut } from "./session.js";
import { drop, toast } from "./toasts.js";

export const UNDO_SECONDS = 3;
/** Until lists have been read again after a decision. What was refused is shown at once by its sender. */
const GONE_MS = 5000;
/** A little longer than a request is tried again. */
const LEAVING_MS = 5000;

/** Ids of what was decided on here: lists hide them until they are gone, or back. */
export const decided = signal(/** @type {ReadonlySet<string>} */ (new Set()));

/** @typedef {{key: string, leaving: boolean, session: string}} How what a sent decision is sent with */
/** @type {Map<number, {text: string, forget: () => void, send: (leaving: boolean) => Promise<unknown>}>} */
const waiting = new Map();
/** What was sent and isn't answered yet. @type {Map<Promise<unknown>, string>} */
const sending = new Map();

addEventListener("pagehide", () => { for (const one of waiting.values()) void one.send(true); });

onSignOut(async (id) => {
  const unsent = [...waiting.values()];
  decided.value = new Set();
  if (id === null) {
    for (const one of unsent) one.forget();
    const words = [...unsent.map((one) => `Not sent, and as it was: “${one.text}”.`), ...unanswered()];
    sending.clear();
    return words;
  }
  for (const one of unsent) void one.send(true);
  await Promise.race([Promise.allSettled(sending.keys()), pause(LEAVING_MS)]);
  const words = unanswered();
  sending.clear();
  return words;
});

const unanswered = () => [...sending.values()].map((text) => `Sent, and not answered: “${text}”. Look how it is.`);

/** A decision that is sent at once.
 * @template T @param {string} text what it is, to a person @param {Promise<T>} answer @returns {Promise<T>} */
export function underWay(text, answer) {
  sending.set(answer, text);
  return answer.finally(() => sending.delete(answer));
}

/** @param {string[]} ids @param {string} text @param {(how: How) => Promise<unknown>} send */
export function decideLater(ids, text, send) {
  const [key, session] = [newKey(), credentials.session() ?? ""];
  hide(ids);
  const undo = () => { forget(); show(ids); };
  const id = toast(text, { seconds: UNDO_SECONDS, undo });
  const timer = setTimeout(() => void waiting.get(id)?.send(false), UNDO_SECONDS * 1000);
  const forget = () => { clearTimeout(timer); waiting.delete(id); drop(id); };
  waiting.set(id, {
    text,
    forget,
    send: (leaving) => {
      forget();
      return underWay(text, send({ key, leaving, session })).finally(() => setTimeout(() => show(ids), GONE_MS));
    },
  });
}

/** @param {string[]} ids */
export function hide(ids) {
  decided.value = new Set([...decided.value, ...ids]);
}

/** @param {string[]} ids */
export function show(ids) {
  const gone = new Set(ids);
  decided.value = new Set([...decided.value].filter((id) => !gone.has(id)));
}
