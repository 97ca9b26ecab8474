/** What a person decides on tasks in `needs`. An approval is sent at once, as the API takes it back while its window
 * is open; what the API can't take back waits three seconds (core/pending.js). */
import { lookedAt, post, Problem } from "../../core/api.js";
import { lookAgain } from "../../core/live.js";
import { decideLater, hide, show, underWay } from "../../core/pending.js";
import { isLeaving } from "../../core/session.js";
import { asField, fromField, morning } from "../../core/time.js";
import { failed, toast } from "../../core/toasts.js";
import { ask } from "../../ui/ask.js";
import { askAsItIsNow, CHANGED } from "./changed.js";
import { named, tell } from "./messages.js";

/** A task, with what of it was on the screen: its revision, and the digest of all that it asks for (null of an earlier
 * release's). `agents`: the versions of its agents, once they were looked at because they had changed.
 * @typedef {{id: string, title: string, revision: number, digest: string | null,
 *   agents?: import("../../core/api.js").LookedAt}} Seen */
/** @typedef {import("./messages.js").Refusal} Refusal */
/** @typedef {() => void} Then */

/** Of a request, and what may be marked: so much can be read. */
export const AT_ONCE = 25;

/** What a decision says of what was seen: the API refuses it for anything else. @param {Seen} task */
const read = ({ revision, digest }) => ({ revision, ...(digest && { digest }) });

/** @param {Seen[]} tasks @param {Then} then */
export async function approve(tasks, then) {
  hide(tasks.map((task) => task.id));
  then();
  /** @type {import("api").ChangedTask[]} */
  const approved = [];
  /** @type {Refusal[]} */
  const wrong = [];
  for (let from = 0; from < tasks.length; from += AT_ONCE) {
    const some = tasks.slice(from, from + AT_ONCE);
    approved.push(...await underWay(named("Approved", some), approvedOf(some, wrong)));
  }
  await tell(tasks, "Approved", wrong);
  if (approved.length === 0) return;
  const isCounted = approved.some((task) => task.state === "needs"); // a rule of the settings asks for others, too
  const seconds = Math.max(...approved.map((task) =>
    (Date.parse(task.ready_at ?? task.updated_at) - Date.parse(task.updated_at)) / 1000));
  const said = `${named("Approved", approved)}${isCounted ? ". It waits for others to approve it, too." : ""}`;
  toast(said, seconds > 0 ? { seconds, undo: () => undo(approved) } : {});
  setTimeout(() => show(approved.map((task) => task.id)), 1000 * Math.max(seconds, 5));
  lookAgain();
}

/** @param {Seen[]} tasks @param {Refusal[]} wrong gets those that were refused
 * @returns {Promise<import("api").ChangedTask[]>} */
async function approvedOf(tasks, wrong) {
  const items = tasks.map((task) =>
    ({ task_id: task.id, ...read(task), ...task.agents }));
  try {
    const answer = /** @type {import("api").ApprovalsView} */ (await post("/approvals", { items }));
    const isAsked = isLeaving.value ? [] : await asChanged(tasks, answer.items.map((each) => each.problem),
      (its) => { void approve(its, () => {}); });
    for (const { task_id: id, problem } of answer.items) {
      if (problem && !isAsked.includes(problem)) wrong.push({ id, error: new Problem(problem.status, problem) });
    }
    return answer.items.flatMap((each) => each.task ?? []);
  } catch (error) {
    if (tasks.length === 1 || wrong.length === 0) failed("Nothing was approved", error);
    else wrong.push(...tasks.map(({ id }) => ({ id, error })));
    show(tasks.map((task) => task.id));
    return [];
  }
}

/** Asks about each agent that has changed since. @template {{id: string}} T @param {T[]} tasks @param {any[]} problems
 * @param {(tasks: (T & {agents: import("../../core/api.js").LookedAt})[]) => void} decide sends the tasks again
 * @returns {Promise<any[]>} */
async function asChanged(tasks, problems, decide) {
  const of = (/** @type {T} */ task) => problems.find((each) => each?.task_id === task.id);
  const changed = problems.filter((each) => each?.code === CHANGED);
  /** @type {any[]} */
  const asked = [];
  for (const problem of new Map(changed.map((each) => [each.agent, each])).values()) {
    const ofAgent = changed.filter((each) => each.agent === problem.agent);
    const its = tasks.filter((task) => ofAgent.some((each) => each.task_id === task.id));
    show(its.map((task) => task.id));
    const isAsked = await askAsItIsNow(problem, its.length === 1 ? "this task" : `these ${its.length} tasks`, "Approve",
      () => { decide(its.map((task) => ({ ...task, agents: lookedAt(of(task)) }))); });
    if (isAsked) asked.push(...ofAgent);
  }
  return asked;
}

/** @param {import("api").ChangedTask[]} tasks */
async function undo(tasks) {
  const results = await Promise.allSettled(tasks.map((task) => post(`/tasks/${task.id}/undo`)));
  show(tasks.map((task) => task.id));
  const wrong = results.find((result) => result.status === "rejected");
  if (wrong) failed("It can't be taken back any more", wrong.reason);
  else toast(tasks.length === 1 ? "Taken back: it waits again." : `Taken back: ${tasks.length} tasks wait again.`);
  lookAgain();
}

/** One request per task, three seconds from now. @template {{id: string, title: string}} T @param {T[]} tasks
 * @param {string} verb @param {string} said @param {(task: T) => object} body */
function later(tasks, verb, said, body) {
  decideLater(tasks.map((task) => task.id), named(said, tasks), async ({ key, leaving, session }) => {
    /** @type {Refusal[]} */
    const wrong = [];
    const sent = (/** @type {T} */ task) =>
      post(`/tasks/${task.id}/${verb}`, body(task), { key: `${key}-${task.id}`, leaving, session });
    await Promise.all(tasks.map((task) => sent(task).catch((error) => wrong.push({ id: task.id, error }))));
    const problems = wrong.map(({ error }) => (error instanceof Problem ? error.told : null));
    const isAsked = leaving ? [] : await asChanged(tasks, problems, (its) => later(its, verb, said, body));
    await tell(tasks, said, wrong.filter((_, number) => !isAsked.includes(problems[number])));
    lookAgain();
  });
}

/** A result that came too late is the task's all the same, once a person wants it.
 * @param {{id: string, title: string}} task @param {{agent: string, fence: number, content: any}} late
 * @param {Then} then */
export function takeLate(task, late, then) {
  const reason = `The result of ${late.agent}, which came too late under claim ${late.fence}, is taken.`;
  later([task], "resolve", "Taken", () => ({ output: late.content.output ?? late.content.completion ?? null, reason }));
  then();
}

/** @param {Seen[]} tasks @param {Then} then */
export function next(tasks, then) {
  later(tasks, "approve-next", "Approved for a worker that asks", (task) => ({ ...read(task), ...task.agents }));
  then();
}

/** @param {Seen[]} tasks @param {Then} then */
export function defer(tasks, then) {
  ask({
    title: tasks.length === 1 ? "Defer this task" : `Defer ${tasks.length} tasks`,
    text: "It leaves the queue, and comes back by itself.",
    fields: [{ name: "until", label: "Until", type: "datetime-local", required: true, min: asField(new Date()),
      value: asField(new Date(morning(1))) }],
    confirm: "Defer",
    run: ({ until }) => {
      const at = fromField(until ?? "");
      later(tasks, "defer", "Deferred", (task) => ({ until: at, ...read(task) }));
      then();
    },
  });
}

/** @param {Seen[]} tasks @param {Then} then */
export function dismiss(tasks, then) {
  ask({
    title: tasks.length === 1 ? "Dismiss this task" : `Dismiss ${tasks.length} tasks`,
    text: tasks.length === 1 ? "It is cancelled, and whoever asked for it is told why."
      : "They are cancelled, and whoever asked for each is told why.",
    fields: [{ name: "reason", label: "Reason", type: "textarea", required: true }],
    confirm: "Dismiss",
    danger: true,
    run: ({ reason }) => {
      later(tasks, "dismiss", "Dismissed", () => ({ reason }));
      then();
    },
  });
}

/** @param {Seen} task @param {Then} then */
export function split(task, then) {
  ask({
    title: "Split this task",
    text: "Each part waits for an approval of its own, and the whole is cancelled.",
    fields: [{ name: "parts", label: "Parts, one a line", type: "textarea", required: true,
      hint: "From 2 to 10. Each goes to whom the whole would have gone." }],
    confirm: "Split",
    run: async ({ parts = "" }) => {
      const summaries = parts.split("\n").map((line) => line.trim()).filter(Boolean);
      if (summaries.length < 2 || summaries.length > 10)
        throw new Error(`A split has 2 to 10 parts, and these are ${summaries.length}.`);
      await post(`/tasks/${task.id}/split`, { parts: summaries.map((summary) => ({ summary })), ...read(task) });
      toast(`Split into ${summaries.length} parts`);
      lookAgain();
      then();
    },
  });
}
