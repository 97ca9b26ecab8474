/** What is told of decisions: what they are on, what was refused, and who was first. */
import { get, Problem } from "../../core/api.js";
import { lookAgain } from "../../core/live.js";
import { show } from "../../core/pending.js";
import { plain } from "../../core/said.js";
import { isLeaving } from "../../core/session.js";
import { relative } from "../../core/time.js";
import { failed } from "../../core/toasts.js";
import { tellAll } from "../../ui/batch.js";

/** @typedef {{id: string, error: unknown}} Refusal */

/** @param {string} said @param {{title: string}[]} tasks */
export const named = (said, tasks) => (tasks.length === 1
  ? `${said}: ${short(tasks[0]?.title ?? "")}` : `${said}: ${tasks.length} tasks`);

/** @param {string} title */
function short(title) {
  const text = plain(title);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/** What of several was refused: of one as a message, of many each by itself, in a dialog that stays.
 * @param {{id: string, title: string}[]} tasks @param {string} done @param {Refusal[]} wrong */
export async function tell(tasks, done, wrong) {
  if (wrong.length === 0) return;
  const errors = new Map(wrong.map(({ id, error }) => [id, error]));
  if (tasks.length === 1 || isLeaving.value) {
    await Promise.all(tasks.filter((task) => errors.has(task.id)).map((task) => refused(task, errors.get(task.id))));
    return;
  }
  show([...errors.keys()]);
  lookAgain();
  tellAll(`${done}: what came of each`, done, tasks.map((task) => ({ ...task, error: errors.get(task.id) })));
}

/** @param {{id: string, title: string} | undefined} task @param {unknown} error */
async function refused(task, error) {
  if (!task) return;
  show([task.id]);
  lookAgain();
  const name = `“${short(task.title)}”`;
  failed(`${name} stays as it is${await whoWasFirst(task.id, error)}`, error, name);
}

/** Who acted on a task before us, as its trail tells it.
 * @param {string} id @param {unknown} error @returns {Promise<string>} */
async function whoWasFirst(id, error) {
  if (!(error instanceof Problem) || error.status !== 409) return "";
  try {
    const trail = /** @type {import("api").Trail} */ (await get(`/tasks/${id}/events?limit=100`));
    const last = trail.events.at(-1);
    return last ? ` (${last.principal.id}: ${last.type.replaceAll("_", " ")}, ${relative(last.at)})` : "";
  } catch {
    return "";
  }
}
