/** What a task's agent has asked people so far. */
import { html } from "../../lib.js";
import { useLive } from "../../core/live.js";
import { address } from "../../core/router.js";
import { Ago, Said } from "../../ui/parts.js";
import { Kind } from "./list.js";
import { Closed, Decisions } from "./one.js";

/** @typedef {import("./list.js").Question} Question */

/** @param {{id: string, when: number}} props */
export function QuestionsOfTask({ id, when }) {
  const { data } = useLive(`/tasks/${id}/questions?limit=100`, { everyMs: 15_000, when });
  const items = /** @type {Question[]} */ (data?.items ?? []);
  if (items.length === 0) return null;
  return html`<section class="card" aria-labelledby="questions">
    <h2 id="questions">Asked of people</h2>
    <ul class="log">${items.map((each) => html`<${One} key=${each.id} of=${each} />`)}</ul>
  </section>`;
}

/** @param {{of: Question}} props */
function One({ of }) {
  const isOpen = of.outcome === "open";
  const to = address("/approvals", { question: of.id, of: of.task_id });
  return html`<li>
    <p>
      <${Kind} of=${of} />${" "}
      <a href=${to}>${isOpen ? "waits for people" : "all of it"}</a> · <${Ago} at=${of.asked_at} />
    </p>
    ${of.tool && html`<p><code><${Said} of=${of.tool} /></code></p>`}
    <${Said} of=${of.text} block />
    ${!isOpen && html`<${Closed} of=${of} />`}
    <${Decisions} of=${of} propose=${null} />
  </li>`;
}
