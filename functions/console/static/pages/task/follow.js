/** A task's trail as it grows: what is there, then each entry as it is written. */
import { useEffect, useState } from "../../lib.js";
import { get, pause, Problem } from "../../core/api.js";
import { lookAgain } from "../../core/live.js";

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
    try {
      const path = isWhole && isOpen ? `/tasks/${id}/events/wait?after=${after}&timeout=${WAIT_SECONDS}&limit=100` : `/tasks/${id}/events?after=${after}&limit=100`;
      const trail = /** @type {import("api").Trail} */ (await get(path, stop));
      if (stop.aborted) return;
      after = trail.next_after;
      if (trail.events.length > 0) tell(trail.events);
      if (trail.events.length > 0 && isWhole) lookAgain();
      if (!isWhole && trail.events.length < 100) isWhole = true;
      if (isWhole && (!isOpen || document.visibilityState !== "visible")) await pause(AGAIN_MS);
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof Problem)) throw error;
      await pause(Math.max(AGAIN_MS, 1000 * (error.retryAfter ?? 0)));
    }
  }
}
