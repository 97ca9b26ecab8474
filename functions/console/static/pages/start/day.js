/** The last 24 hours of a list of tasks, hour by hour. */

/** @typedef {import("api").ListedTask} ListedTask */
/** @typedef {{at: number, began: number, done: number, failed: number, other: number}} Hour `at`: its beginning, in milliseconds */

const HOUR_MS = 3_600_000;
export const HOURS = 24;

/** The days (UTC) that the last 24 hours lie in. @param {number} now @returns {[string, string]} */
export function daysOf(now) {
  const day = (/** @type {number} */ at) => new Date(at).toISOString().slice(0, 10);
  return [day(now - HOURS * HOUR_MS), day(now)];
}

/** An ended task's last change is taken for its end. @param {ListedTask[]} tasks @param {number} now @returns {Hour[]} */
export function hoursOf(tasks, now) {
  const first = Math.floor(now / HOUR_MS) * HOUR_MS - (HOURS - 1) * HOUR_MS;
  const hours = Array.from({ length: HOURS }, (_, index) => ({ at: first + index * HOUR_MS, began: 0, done: 0, failed: 0, other: 0 }));
  const hourOf = (/** @type {string} */ at) => hours[Math.floor((Date.parse(at) - first) / HOUR_MS)];
  for (const task of tasks) {
    const began = hourOf(task.created_at);
    if (began) began.began += 1;
    const end = endOf(task.state);
    const ended = end && hourOf(task.updated_at);
    if (ended) ended[end] += 1;
  }
  return hours;
}

/** @param {string} state @returns {"done" | "failed" | "other" | null} */
function endOf(state) {
  if (state === "done" || state === "failed") return state;
  return state === "rejected" || state === "cancelled" ? "other" : null;
}

/** @param {Hour[]} hours @param {Exclude<keyof Hour, "at">} name */
export const sum = (hours, name) => hours.reduce((total, hour) => total + hour[name], 0);
