/** What was said in turn, and side by side what branches say. */
import { html } from "../../lib.js";
import { address } from "../../core/router.js";
import { Said, State } from "../../ui/parts.js";
import { isOpen } from "../../core/tree.js";
import { Message } from "./message.js";

/** @typedef {import("api").MessageView} MessageView */
/** @typedef {import("api").ConversationTask} ConversationTask */
/** `task`: the one that the branch began with. @typedef {{task: ConversationTask, blocks: Block[]}} Branch */
/** @typedef {{message: MessageView, branches?: undefined} | {message?: undefined, branches: Branch[]}} Block */

/** What can be placed: a message is read before the list that has its task, and those after it wait with it.
 * @param {MessageView[]} messages @param {ConversationTask[]} tasks @returns {MessageView[]} */
export function placed(messages, tasks) {
  const known = new Set(tasks.map((task) => task.id));
  const first = messages.findIndex((message) => !known.has(message.task_id));
  return first < 0 ? messages : messages.slice(0, first);
}

/** @param {MessageView[]} messages in the order of their reading @param {ConversationTask[]} tasks
 * @returns {Block[]} */
export function blocks(messages, tasks) {
  const known = new Map(tasks.map((task) => [task.id, task]));
  /** @type {Block[]} */
  const found = [];
  for (const message of messages) inside(found, pathOf(message.task_id, known)).push({ message });
  for (const task of tasks.filter((each) => each.join_parent && isOpen(each.state)))
    inside(found, pathOf(task.id, known));
  return found;
}

/** The list at the end of a path: in each branch of it the latest columns, or new ones.
 * @param {Block[]} list @param {ConversationTask[]} path @returns {Block[]} */
function inside(list, path) {
  let here = list;
  for (const task of path) {
    const last = here.at(-1);
    const branches = last?.branches ?? [];
    if (!last?.branches) here.push({ branches });
    let branch = branches.find((each) => each.task.id === task.id);
    if (!branch) branches.push(branch = { task, blocks: [] });
    here = branch.blocks;
  }
  return here;
}

/** The branches that a task is in, the outermost first: a branch is a task that others wait for, and whoever that one
 * handed its part to. @param {string} id @param {Map<string, ConversationTask>} known @returns {ConversationTask[]} */
function pathOf(id, known) {
  let task = known.get(id);
  if (!task?.join_parent) return [];
  const { join_parent: waiting } = task;
  for (
    let parent = known.get(task.parent_id ?? "");
    parent?.join_parent === waiting;
    parent = known.get(parent.parent_id ?? "")
  ) task = parent;
  return [...pathOf(waiting, known), task];
}

/** @param {{of: Block[]}} props */
export function Blocks({ of }) {
  return of.map((block, at) => (block.branches ? html`<div class="branches" key=${at}>
      ${block.branches.map((branch) => html`<${Column} key=${branch.task.id} of=${branch} />`)}
    </div>` : html`<${Message} key=${at} of=${block.message} />`));
}

/** @param {{of: Branch}} props */
function Column({ of }) {
  const agent = of.task.agent ?? "anyone";
  return html`<section aria-label=${`Branch of ${agent}`}>
    <p class="row">
      <a href=${address(`/tasks/${of.task.id}`)}><${Said} of=${agent} /></a> <${State} of=${of.task.state} />
    </p>
    <${Blocks} of=${of.blocks} />
  </section>`;
}
