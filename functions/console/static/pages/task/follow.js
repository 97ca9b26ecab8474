/** A task's trail as it grows: what is there, then each entry when it rings, or without a bell by a long poll. */
import { useEffect, useState } from "../../lib.js";
import { get, pause, Problem } from "../../core/api.js";
import { isHeard } from "../../core/bell.js";
import { lookAgain, looksSoFar, nextLook } from "../../core/live.js";

/** @typedef {import("api").EventView} EventView */
const WAIT_SECONDS = 20;
const AGAIN_MS = 10_000;

/** @param {string} id @param {boolean} isOpen an open task's next entry is waited for; after the end hardly one comes
 * @returns {EventView[]} */
export function useTrail(id, isOpen) {
  const [events, setEvents] = useState(/** @type {EventView[]} */ ([]));
  useEffect(() => {
    const stop = new AbortController();
    void follow(id, isOpen, stop.signal, (more) => setEvents((before) => [...before, ...more]));
    return () => { stop.abort(); setEvents([]); };
  }, [id, isOpen]);
  return events;
}

/** @param {string} id @param {boolean} isOpen @param {AbortSignal} stop @param {(more: EventView[]) => void} tell */
async function follow(id, isOpen, stop, tell) {
  let after = 0;
  let isWhole = false;
  while (!stop.aborted) {
    const before = looksSoFar();
    try {
      const path = isWhole && isOpen && !isHeard.value
        ? `/tasks/${id}/events/wait?after=${after}&timeout=${WAIT_SECONDS}&limit=100`
        : `/tasks/${id}/events?after=${after}&limit=100`;
      const trail = /** @type {import("api").Trail} */ (await get(path, stop));
      if (stop.aborted) return;
      after = trail.next_after;
      if (trail.events.length > 0) tell(trail.events);
      if (trail.events.length > 0 && isWhole && !isHeard.value) lookAgain();
      isWhole = trail.events.length < 100;
      if (isWhole && (isHeard.value || !isOpen || document.visibilityState !== "visible"))
        await nextLook(before, AGAIN_MS, stop);
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof Problem)) throw error;
      await pause(Math.max(AGAIN_MS, 1000 * (error.retryAfter ?? 0)));
    }
  }
}
