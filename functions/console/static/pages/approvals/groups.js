/** Which tasks belong together: one direction, one reason to wait. */

/** @typedef {import("api").ListedTask} ListedTask */

/** @type {Record<string, string>} */
const KINDS = {
  escalation: "asks for help", transfer: "passes work on", delegation: "asks for a part", rollback: "gives work back",
  continuation: "suggests what comes next", retry: "tries again",
};

/** Why a task waits for a person. @param {ListedTask} task */
export function reasonOf(task) {
  if (task.flags.includes("attempts_exhausted")) return "came back: every attempt was lost";
  if (task.flags.includes("released_too_often")) return "came back: given up too often";
  if (task.deferred_until) return "was deferred until now";
  if (task.attempt > 0) return "came back from a lost worker";
  return KINDS[task.kind] ?? task.kind;
}

/** Groups in the order of their first task: the queue's own order is by urgency.
 * @param {ListedTask[]} tasks */
export function grouped(tasks) {
  /** @type {Map<string, {key: string, from: string, to: string | null, reason: string, tasks: ListedTask[]}>} */
  const groups = new Map();
  for (const task of tasks) {
    const reason = reasonOf(task);
    const key = JSON.stringify([task.source_agent, task.target_agent, reason]);
    const group = groups.get(key) ?? { key, from: task.source_agent, to: task.target_agent, reason, tasks: [] };
    group.tasks.push(task);
    groups.set(key, group);
  }
  return [...groups.values()];
}
