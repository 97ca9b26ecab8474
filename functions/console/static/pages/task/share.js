/** What one tells a colleague of a task: a link that opens for them, and what there is to know at a glance. */
import { html } from "../../lib.js";
import { ROOT } from "../../core/api.js";
import { useKeys } from "../../core/keys.js";
import { plain } from "../../core/said.js";
import { stateWord } from "../../core/states.js";
import { toast } from "../../core/toasts.js";
import { copied, Key, Said } from "../../ui/parts.js";

/** @typedef {import("api").WholeTask} WholeTask */

/** A chat shows so much without folding it; in the page's head stands less. */
const MOST = 1000;
const FIRST = 200;

/** @param {string} text @param {number} most */
const cut = (text, most) => (text.length > most ? `${text.slice(0, most)} …` : text);

/** @param {WholeTask} task @param {string} title */
function told(task, title) {
  const { failure } = /** @type {any} */ (task);
  const way = `${task.source_agent} → ${task.target_agent ?? "anyone"}`;
  return plain([
    title || task.id,
    `${stateWord(task.state)}, ${way}, ${task.priority}, created ${task.created_at}`,
    ...(failure ? [`${failure.type}: ${cut(failure.description, MOST)}`] : []),
    new URL(`tasks/${task.id}`, ROOT).href,
  ].join("\n"));
}

/** @param {{task: WholeTask, title: string}} props */
export function Share({ task, title }) {
  const copy = async () => {
    toast(await copied(told(task, title)) ? "Copied: its link, with what it says."
      : "The browser doesn't let a page copy: the link is in its address bar.");
  };
  useKeys("To tell somebody", { y: { does: "copy the link, with what it says", run: copy } });
  return html`<button type="button" class="quiet" onClick=${copy}>Copy link <${Key}>y<//></button>`;
}

/** Why it failed, in a line: the whole is below. @param {{task: WholeTask}} props */
export function WhyFailed({ task }) {
  const { failure } = /** @type {any} */ (task);
  if (!failure) return null;
  const line = String(failure.description ?? "").split("\n").find((each) => each.trim()) ?? "";
  return html`<p><span class="flag">${failure.type}</span> <${Said} of=${cut(line, FIRST)} /></p>`;
}
