/** The rounds of a read: again after a while, once something wakes it, or when the network is back; slower while
 * nothing answers. */
import { pause, Problem } from "./api.js";
import { isHeard, looked } from "./bell.js";

const SLOWEST_MS = 30_000;
/** With a bell, for what no ring tells. */
const UNTOLD_MS = 10_000;

/** Counts the reasons to look again, as one may come while the answer is under way.
 * @typedef {{count: number, tell: () => void}} Wake */

/** @param {Wake} wake */
export function stir(wake) {
  wake.count += 1;
  wake.tell();
}

/** @template T @param {(stop: AbortSignal, show: (data: T) => void) => Promise<T>} load @param {AbortSignal} stop
 * @param {number} everyMs @param {Wake} wake @param {(data: T) => boolean} isUntold
 * @param {(data: T | null, problem: Problem | null) => void} tell */
export async function loop(load, stop, everyMs, wake, isUntold, tell) {
  let wait = everyMs;
  let untold = true;
  while (!stop.aborted) {
    const count = wake.count;
    try {
      const data = await load(stop, (part) => { if (!stop.aborted) tell(part, null); });
      tell(data, null);
      [wait, untold] = [everyMs, isUntold(data)];
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof Problem)) throw error;
      tell(null, error);
      untold = true;
      wait = Math.min(SLOWEST_MS, Math.max(2 * wait, 1000 * (error.retryAfter ?? 0)));
    }
    if (count !== wake.count && wait === everyMs) continue;
    await Promise.race([
      again(wait, untold),
      new Promise((/** @type {(_: void) => void} */ done) => { wake.tell = done; }),
      mended(wait > everyMs),
    ]);
    await looked(stop);
  }
}

/** Until the network is back, where that is what a read waits for. @param {boolean} isAway @returns {Promise<void>} */
function mended(isAway) {
  if (!isAway) return new Promise(() => {});
  return new Promise((done) => {
    addEventListener("online", () => done(), { once: true });
  });
}

/** Until what was read is asked for again, though nothing has rung.
 * @param {number} wait @param {boolean} isUntold @returns {Promise<void>} */
function again(wait, isUntold) {
  if (!isHeard.value) return pause(wait);
  return isUntold ? pause(Math.max(wait, UNTOLD_MS)) : new Promise(() => {});
}
