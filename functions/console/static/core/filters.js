/** What lists of tasks are filtered and ordered by. It is in the address, and means the same on every page. */

/** @typedef {import("api").ListedTask} ListedTask */
/** @typedef {Record<string, string>} Query */

/** Filters of a list of tasks, as they stand in an address. */
export const FILTERS = ["q", "priority", "agent", "label", "kind", "age", "by"];
export const PRIORITIES = ["P0", "P1", "P2"];
/** Older than so many seconds. */
export const AGES = /** @type {[string, string][]} */ ([
  ["900", "over 15 min"], ["3600", "over 1 h"], ["14400", "over 4 h"], ["86400", "over 1 d"],
  ["259200", "over 3 d"], ["604800", "over 1 week"],
]);

/** When something is due: its deadline, or the end of its day, whatever is first; empty for never.
 * @param {ListedTask} task */
export function dueOf(task) {
  const day = task.due_date ? `${task.due_date}T23:59:59.999Z` : "";
  const { deadline } = task;
  return deadline && day ? (deadline < day ? deadline : day) : deadline ?? day;
}

/** Sorts after every time. */
const NEVER = "~";
/** @type {Record<string, (task: ListedTask) => (string | number)[]>} */
const ORDERS = {
  urgency: (task) => [task.priority, dueOf(task) || NEVER, task.created_at],
  priority: (task) => [task.priority, task.created_at],
  deadline: (task) => [dueOf(task) || NEVER, task.priority, task.created_at],
  age: (task) => [task.created_at],
  title: (task) => [task.title.toLowerCase()],
  agent: (task) => [task.target_agent ?? NEVER, task.source_agent, task.priority, task.created_at],
  by: (task) => [task.created_by, task.created_at],
  label: (task) => [task.labels.join(" ") || NEVER, task.priority, task.created_at],
  state: (task) => [task.state, task.created_at],
  attempts: (task) => [task.attempt, task.created_at],
};

/** Tasks in an order, such as `age`, or `-age` for the other way round. An unknown one leaves them as they are.
 * @param {ListedTask[]} tasks @param {string} sort @returns {ListedTask[]} */
export function ordered(tasks, sort) {
  const isReversed = sort.startsWith("-");
  const name = isReversed ? sort.slice(1) : sort;
  const keyOf = Object.hasOwn(ORDERS, name) ? ORDERS[name] : undefined;
  if (!keyOf) return tasks;
  const keyed = tasks.map((task) => ({ task, key: keyOf(task) }));
  keyed.sort((one, other) => compared(one.key, other.key) * (isReversed ? -1 : 1));
  return keyed.map(({ task }) => task);
}

/** @param {(string | number)[]} one @param {(string | number)[]} other */
function compared(one, other) {
  for (const [at, value] of one.entries()) {
    const against = other[at] ?? "";
    if (value !== against) return value < against ? -1 : 1;
  }
  return 0;
}

/** @param {Query} query */
export const isFiltered = (query) => FILTERS.some((name) => query[name]);

/** @param {ListedTask} task @param {Query} query */
export function fits(task, query) {
  const { q = "", priority, agent, label, kind, age, by } = query;
  if (priority && task.priority !== priority) return false;
  if (agent && task.target_agent !== agent && task.source_agent !== agent) return false;
  if (label && !task.labels.includes(label)) return false;
  if (kind && task.kind !== kind) return false;
  if (by && task.created_by !== by) return false;
  if (age && Date.now() - Date.parse(task.created_at) < 1000 * Number(age)) return false;
  return says(q, [task.title, task.source_agent, task.target_agent ?? "anyone", task.priority, task.kind, task.id,
    task.created_by, ...task.labels, ...task.flags]);
}

/** @param {string} words all of them @param {string[]} texts */
export function says(words, texts) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return true;
  const text = texts.join(" ").toLowerCase();
  return wanted.every((word) => text.includes(word));
}

const MOST_CHOICES = 200;

/** What a filter can be of these tasks. @param {ListedTask[]} tasks */
export function choicesOf(tasks) {
  const of = (/** @type {(task: ListedTask) => (string | null)[]} */ values) =>
    [...new Set(tasks.flatMap(values))].filter((each) => each !== null).sort().slice(0, MOST_CHOICES);
  return { agent: of((task) => [task.target_agent, task.source_agent]), label: of((task) => task.labels),
    kind: of((task) => [task.kind]), by: of((task) => [task.created_by]) };
}
