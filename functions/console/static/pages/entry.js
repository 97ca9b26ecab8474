/** One entry of the memory, with its trail. */
import { html } from "../lib.js";
import { change, post } from "../core/api.js";
import { lookAgain, useLive } from "../core/live.js";
import { address } from "../core/router.js";
import { toast } from "../core/toasts.js";
import { ask } from "../ui/ask.js";
import { Ago, Facts, Id, Loading, Said, Trouble } from "../ui/parts.js";
import { standing } from "./memory.js";

/** @typedef {import("api").WholeEntryView} WholeEntryView */

/** @param {{params: Record<string, string>}} props */
export default function Entry({ params }) {
  const { data, problem, isLoading } = useLive(`/blackboard/${encodeURIComponent(params.id ?? "")}`, { everyMs: 5000 });
  const entry = /** @type {WholeEntryView | null} */ (data);
  if (isLoading) return html`<h1>Entry</h1><${Loading} />`;
  if (!entry) return html`<h1>Entry</h1>
    <${Trouble} of=${problem} what="The entry can't be read." />
    <p><a href=${address("/memory")}>All that is known</a></p>`;
  const isGone = Boolean(entry.withdrawn_at || entry.deleted_at);
  return html`<article class="task">
    <header>
      <p class="row">
        <span class=${`state ${standing(entry.status)}`}>
          ${entry.entry_type}${entry.status ? ` · ${entry.status}` : ""}</span>
        ${entry.withdrawn_at && html`<span class="flag">withdrawn</span>`}
        ${entry.deleted_at && html`<span class="flag">deleted</span>`}
      </p>
      <h1 class="title"><${Said} of=${entry.summary || entry.id} /></h1>
      <div class="row acts">
        ${!isGone && html`<button type="button" onClick=${() => withdraw(entry)}>Withdraw</button>`}
        ${!entry.deleted_at && html`<button type="button" class="danger" onClick=${() => remove(entry)}>
          Delete</button>`}
        <a href=${address("/memory")}>All that is known</a>
      </div>
    </header>
    <${Trouble} of=${problem} />
    <div class="halves">
      <section class="card" aria-labelledby="says">
        <h2 id="says">What it says</h2>
        ${entry.detail && html`<${Said} of=${entry.detail} block />`}
        ${entry.rationale && html`<h3>Because</h3><${Said} of=${entry.rationale} block />`}
        ${entry.relates_to.length > 0 && html`<h3>Relates to</h3>
          <ul>${entry.relates_to.map((each) => html`<li><${Said} of=${each} /></li>`)}</ul>`}
      </section>
      <div>
        <section class="card" aria-labelledby="details">
          <h2 id="details">Details</h2>
          <${Facts} of=${[
            ["Entry", html`<${Id} of=${entry.id} />`],
            ["Scope", html`<${Said} of=${entry.scope} />`],
            ["Tags", entry.tags.length > 0 && html`<${Said} of=${entry.tags.join(", ")} />`],
            ["Posted", html`<${Ago} at=${entry.posted_at} /> by <${Said} of=${entry.posted_by} />`],
            ["In place of", entry.supersedes && html`<a href=${address(`/memory/${entry.supersedes}`)}>
              the decision before</a>`],
            ["Replaced by", entry.superseded_by && html`<a href=${address(`/memory/${entry.superseded_by}`)}>
              a newer one</a>`],
          ]} />
        </section>
        <section class="card" aria-labelledby="trail">
          <h2 id="trail">Trail</h2>
          <ul class="log">${entry.trail.map((each) => html`<li key=${`${each.at} ${each.what}`}>
            <strong>${each.what}</strong> by <${Said} of=${each.by} /> <span class="faint">
              <${Ago} at=${each.at} /></span>
            ${each.reason && html`<${Said} of=${each.reason} block />`}
          </li>`)}</ul>
        </section>
      </div>
    </div>
  </article>`;
}

/** @param {WholeEntryView} entry */
function withdraw(entry) {
  ask({
    title: "Withdraw this entry",
    text: "It holds no more, and stays readable with its trail. A decision that it had replaced stays replaced.",
    fields: [{ name: "reason", label: "Reason", type: "textarea" }],
    confirm: "Withdraw",
    run: async ({ reason }) => {
      await post(`/blackboard/${entry.id}/withdraw`, reason ? { reason } : {});
      toast("Withdrawn");
      lookAgain();
    },
  });
}

/** @param {WholeEntryView} entry */
function remove(entry) {
  ask({
    title: "Delete this entry's texts",
    text: "They are removed for good; who posted and who deleted it stays in the trail.",
    confirm: "Delete",
    danger: true,
    run: async () => {
      await change("DELETE", `/blackboard/${entry.id}`);
      toast("Deleted");
      lookAgain();
    },
  });
}
