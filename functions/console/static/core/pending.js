/** Decisions that the API can't take back wait three seconds before they are sent. Who leaves the page sends them. */
import { signal } from "../lib.js";
import { newKey } from "./api.js";
import { drop, toast } from "./toasts.js";

export const UNDO_SECONDS = 3;
/** Until lists have been read again after a decision. What was refused is shown at once by its sender. */
const GONE_MS = 5000;

/** Ids of what was decided on here: lists hide them until they are gone, or back. */
export const decided = signal(/** @type {ReadonlySet<string>} */ (new Set()));

/** @typedef {{key: string, leaving: boolean}} How what a sent decision is sent with */
/** @type {Map<number, (leaving: boolean) => void>} */
const waiting = new Map();

addEventListener("pagehide", () => { for (const send of waiting.values()) send(true); });

/** @param {string[]} ids @param {string} text @param {(how: How) => Promise<unknown>} send */
export function decideLater(ids, text, send) {
  const key = newKey();
  hide(ids);
  const undo = () => { forget(); show(ids); };
  const id = toast(text, { seconds: UNDO_SECONDS, undo });
  const timer = setTimeout(() => waiting.get(id)?.(false), UNDO_SECONDS * 1000);
  const forget = () => { clearTimeout(timer); waiting.delete(id); drop(id); };
  waiting.set(id, (leaving) => {
    forget();
    void send({ key, leaving }).finally(() => setTimeout(() => show(ids), GONE_MS));
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
