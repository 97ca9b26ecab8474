/** What a rule stopped: a person reads what would go through, and releases or closes it. */
import { html } from "../lib.js";
import { lookedAt, post } from "../core/api.js";
import { useKeys } from "../core/keys.js";
import { lookAgain, useList, useLive } from "../core/live.js";
import { address, go } from "../core/router.js";
import { toast } from "../core/toasts.js";
import { ask } from "../ui/ask.js";
import { Ago, Data, Empty, Facts, Id, Key, Loading, Said, Trouble, Views, Way } from "../ui/parts.js";
import { Table } from "../ui/table.js";
import { Asked } from "./task/asked.js";

/** @typedef {import("api").ReviewView} ReviewView */
/** @type {Record<string, string>} */
const REASONS = { escalation_cap: "the cap of its direction", loop_guard: "the loop guard" };
/** Colours of task states. @type {Record<string, string>} */
const LOOKS = { open: "needs", released: "done", closed: "cancelled" };

/** @type {Record<string, string>} */
const REQUESTS = {
  open: "What a release lets through", released: "What was let through", closed: "What was asked for",
};

/** @type {import("../ui/table.js").Column<ReviewView>[]} */
const COLUMNS = [
  { name: "way", title: "From → to", class: "fill",
    cell: (review) => html`<${Way} from=${review.source_agent} to=${review.target_agent} />` },
  { name: "reason", title: "Stopped by",
    cell: (review) => html`${REASONS[review.reason]}
      ${review.rule && html` <span class="faint">${review.rule.replaceAll("_", " ")}</span>`}` },
  { name: "count", title: "Times", class: "slim middling", cell: (review) => review.count },
  { name: "last", title: "Last", class: "time", cell: (review) => html`<${Ago} at=${review.last_at} />` },
  { name: "state", title: "State", class: "state-cell wide",
    cell: (review) => html`<span class=${`state ${LOOKS[review.state]}`}>${review.state}</span>` },
];

/** @param {{query: Record<string, string>}} props */
export default function Reviews({ query }) {
  const state = query.state ?? "open";
  const { data, problem, isLoading } = useList(state === "all" ? "/manual-reviews" : `/manual-reviews?state=${state}`);
  const rows = /** @type {ReviewView[]} */ (data?.items ?? []);
  return html`<div class="head"><h1>Manual reviews</h1></div>
    <${Views} label="Which" of=${["open", "released", "closed", "all"].map((each) =>
      ({ name: each, href: address("/reviews", { state: each }), isChosen: each === state }))} />
    <${Trouble} of=${problem} what="The list can't be read." />
    ${isLoading ? html`<${Loading} />`
      : rows.length > 0 ? html`<${Table} label="Manual reviews" columns=${COLUMNS} rows=${rows} more=${data?.more}
          keyOf=${(/** @type {ReviewView} */ review) => review.id}
          hrefOf=${(/** @type {ReviewView} */ review) => address(`/reviews/${review.id}`)} />`
      : !problem && html`<${Empty} title=${state === "open" ? "Nothing is stopped" : "There is none"}>
          <p>A direction at its cap of escalations, or a chain that runs in circles, is stopped here: a person reads
            it, and releases exactly that request or closes it.</p>
        <//>`}`;
}

/** @param {{params: Record<string, string>}} props */
export function Review({ params }) {
  const { data, problem, isLoading } = useLive(`/manual-reviews/${encodeURIComponent(params.id ?? "")}`);
  const review = /** @type {import("api").WholeReview | null} */ (data);
  const isOpen = review?.state === "open";
  const act = (/** @type {(review: ReviewView) => void} */ decide) => () => { if (review && isOpen) decide(review); };
  useKeys("Review", isOpen ? { r: { does: "release", run: act(release) }, x: { does: "close", run: act(close) } } : {});
  if (isLoading) return html`<h1>Manual review</h1><${Loading} />`;
  if (!review) return html`<h1>Manual review</h1>
    <${Trouble} of=${problem} what="The review can't be read." />
    <p><a href=${address("/reviews")}>All reviews</a></p>`;
  const { reason, ...request } = /** @type {any} */ (review.request);
  return html`<article class="task">
    <header>
      <p class="row">
        <span class=${`state ${LOOKS[review.state]}`}>${review.state}</span>${" "}
        <${Way} from=${review.source_agent} to=${review.target_agent} />
      </p>
      <h1 class="title">Stopped by ${REASONS[review.reason]}</h1>
      ${isOpen && html`<div class="row acts">
        <button type="button" class="primary" onClick=${act(release)}>Release <${Key}>r<//></button>
        <button type="button" class="danger" onClick=${act(close)}>Close <${Key}>x<//></button>
      </div>`}
    </header>
    <${Trouble} of=${problem} />
    <div class="halves">
      <div>
        <section class="card" aria-labelledby="request">
          <h2 id="request">${REQUESTS[review.state]}</h2>
          ${review.handoff
            ? html`<${Asked} handoff=${{
              results: [], expectations: {}, target: { reason: reason ?? "" }, ...review.handoff }} />`
            : html`<${Said} of=${request.escalation_reason ?? reason} block />`}
          <${Data} of=${request} title="The request" />
        </section>
        ${review.notes.length > 0 && html`<section class="card" aria-labelledby="notes">
          <h2 id="notes">Every request</h2>
          <ul class="log">${review.notes.map((note) => html`<li key=${note.id}>
            <p><${Said} of=${note.by} /> · <${Ago} at=${note.at} /></p>
            <${Data} of=${note.content} title="Its request" open />
          </li>`)}</ul>
        </section>`}
      </div>
      <section class="card" aria-labelledby="details">
        <h2 id="details">Details</h2>
        <${Facts} of=${[
          ["Review", html`<${Id} of=${review.id} />`],
          ["Rule", review.rule?.replaceAll("_", " ")],
          ["Chain", review.chain.length > 0 && html`<${Said} of=${review.chain.join(" → ")} />`],
          ["Asked by", html`<${Said} of=${review.requested_by} />`],
          ["Times", review.count],
          ["Since", html`<${Ago} at=${review.opened_at} />`],
          ["Last", html`<${Ago} at=${review.last_at} />`],
          ["Released", review.released_at && html`<${Ago} at=${review.released_at} />`],
          ["Closed", review.closed_at && html`<${Ago} at=${review.closed_at} />`],
          ["By", (review.released_by ?? review.closed_by)
            && html`<${Said} of=${review.released_by ?? review.closed_by} />`],
          ["Reason", review.closed_reason && html`<${Said} of=${review.closed_reason} />`],
          ["Task", review.task_id && html`<a href=${address(`/tasks/${review.task_id}`)}>what came of it</a>`],
        ]} />
      </section>
    </div>
  </article>`;
}

/** @param {ReviewView} review */
function release(review) {
  /** Sent again, it names the refusal's agent. @type {any} */
  const seen = { version: review.version };
  ask({
    title: "Release this request",
    text: "This approves exactly this request, once. Nobody is asked again. A newer request refuses it.",
    confirm: "Release",
    run: async () => {
      const made = /** @type {import("api").ReleasedReview} */ (
        await post(`/manual-reviews/${review.id}/release`, seen).catch((error) => {
          if (error.code === "agent_changed") Object.assign(seen, lookedAt(error.told));
          throw error;
        }));
      toast("Released");
      lookAgain();
      go(`/tasks/${made.task.id}`);
    },
  });
}

/** @param {ReviewView} review */
function close(review) {
  ask({
    title: "Close this review",
    text: "It can't be released any more. Whoever asked can read the reason. The next request that the rule stops is a "
      + "review again.",
    fields: [{ name: "reason", label: "Reason", type: "textarea", required: true }],
    confirm: "Close it",
    danger: true,
    run: async ({ reason }) => {
      await post(`/manual-reviews/${review.id}/close`, { version: review.version, reason });
      toast("Closed");
      lookAgain();
    },
  });
}
