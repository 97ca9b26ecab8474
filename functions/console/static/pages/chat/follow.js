/** Messages of a conversation as they come. */
import { useEffect, useState } from "../../lib.js";
import { get, pause, Problem } from "../../core/api.js";
import { looked } from "../../core/bell.js";
import { EVERY_MS, looksSoFar, nextLook } from "../../core/live.js";

/** @typedef {import("api").MessageView} MessageView */

/** @param {string} id @param {() => boolean} isBusy while it is answered, messages come without a ring
 * @returns {MessageView[]} */
export function useMessages(id, isBusy) {
  const [messages, setMessages] = useState(/** @type {MessageView[]} */ ([]));
  useEffect(() => {
    const stop = new AbortController();
    void follow(id, isBusy, stop.signal, (more) => setMessages((before) => [...before, ...more]));
    return () => { stop.abort(); setMessages([]); };
  }, [id]);
  return messages;
}

/** @param {string} id @param {() => boolean} isBusy @param {AbortSignal} stop
 * @param {(more: MessageView[]) => void} tell */
async function follow(id, isBusy, stop, tell) {
  let after = "";
  let wait = EVERY_MS;
  while (!stop.aborted) {
    const before = looksSoFar();
    try {
      const page = /** @type {import("api").MessagePage} */ (await get(
        `/conversations/${encodeURIComponent(id)}/messages?limit=100${
          after ? `&after=${encodeURIComponent(after)}` : ""}`, stop));
      if (stop.aborted) return;
      const isMore = page.after !== after && page.items.length > 0;
      after = page.after;
      if (page.items.length > 0) tell(page.items);
      wait = isMore ? 0 : EVERY_MS;
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof Problem) || error.status === 404) return;
      wait = Math.max(5000, 1000 * (error.retryAfter ?? 0));
    }
    await (isBusy() || wait !== EVERY_MS ? pause(wait) : nextLook(before, wait, stop));
    await looked(stop);
  }
}
