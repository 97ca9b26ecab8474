/** One manual review: a person reads all that would go through, and releases or closes it. */
import { html } from "../lib.js";
import { post } from "../core/api.js";
import { useKeys } from "../core/keys.js";
import { lookAgain, useLive } from "../core/live.js";
import { address, go } from "../core/router.js";
import { toast } from "../core/toasts.js";
import { ask } from "../ui/ask.js";
import { Ago, Data, Facts, Id, Key, Loading, Said, Trouble, Way } from "../ui/parts.js";
import { Json, Text } from "../ui/text.js";
import { askOfChanged } from "./approvals/changed.js";
import { isCompared, Marks } from "./approvals/marks.js";
import { useFrozen, useSight } from "./approvals/reading.js";
import { LOOKS, REASONS } from "./reviews.js";
import { Asked } from "./task/asked.js";

/** @typedef {import("api").WholeReview} WholeReview */
/** @type {Record<string, string>} */
const REQUESTS = {
  open: "What a release lets through", released: "What was let through", closed: "What was asked for",
};

/** @param {{params: Record<string, string>}} props */
export default function Review({ params: { id = "" } }) {
  return html`<${Whole} key=${id} id=${id} />`;
}

/** Without the number of the request. @param {WholeReview} review */
const askedOf = ({ version: _, ...asked }) => asked;

/** The fields of a task that the warnings need. @param {WholeReview} review @returns {any} */
const asTask = ({ id, version, source_agent, target_agent, requested_by: created_by }) =>
  ({ id, digest: String(version), revision: 1, source_agent, target_agent, created_by });

/** @param {{id: string}} props */
function Whole({ id }) {
  const { data, problem, isLoading } = useLive(`/manual-reviews/${encodeURIComponent(id)}`);
  const now = /** @type {WholeReview | null} */ (data);
  const { seen, isChanged, told } = useFrozen(now, ({ version }) => version, askedOf);
  const isOpen = now?.state === "open";
  const review = isOpen ? seen : now;
  const isLive = Boolean(isOpen && seen && !isChanged && !problem && isCompared(asTask(seen)));
  const isSeen = useSight();
  const act = (/** @type {(review: WholeReview) => void} */ decide) => () => {
    if (seen && isOpen && isSeen(isLive, decide === release, `${id} ${seen.version}`)) decide(seen);
  };
  useKeys("Review", isOpen ? { r: { does: "release", run: act(release) }, x: { does: "close", run: act(close) } } : {});
  if (isLoading) return html`<h1>Manual review</h1><${Loading} />`;
  if (!review) return html`<h1>Manual review</h1>
    <${Trouble} of=${problem} what="The review can't be read." />
    <p><a href=${address("/reviews")}>All reviews</a></p>`;
  const { metadata = {} } = /** @type {any} */ (review.handoff ?? {});
  return html`<article class="task review">
    <header>
      <p class="row">
        <span class=${`state ${LOOKS[review.state]}`}>${review.state}</span>${" "}
        <${Way} from=${review.source_agent} to=${review.target_agent} />
      </p>
      <h1 class="title">Stopped by ${REASONS[review.reason]}</h1>
      ${isOpen && html`<div class="row acts">
        <button type="button" class="primary" disabled=${!isLive} onClick=${act(release)}>Release <${Key}>r<//></button>
        <button type="button" class="danger" disabled=${!isLive} onClick=${act(close)}>Close <${Key}>x<//></button>
      </div>`}
    </header>
    <${Trouble} of=${problem} />
    ${isOpen && html`${told}<${Marks} task=${asTask(review)} handoff=${review.handoff ?? review.request} />`}
    <div class="halves">
      <div>
        <section class="card" aria-labelledby="request">
          <h2 id="request">${REQUESTS[review.state]}</h2>
          <${Request} of=${review} />
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
          ["Priority", metadata.priority],
          ["Effort", metadata.effort],
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

/** All that a release lets through: nothing is folded or left out. @param {{of: WholeReview}} props */
function Request({ of }) {
  const { reason, ...request } = /** @type {any} */ (of.request);
  const handoff = of.handoff && {
    results: [], expectations: {}, target: { reason: reason ?? "" }, ...of.handoff,
    metadata: { .../** @type {any} */ (of.handoff.metadata), workflow_id: request.workflow_id },
  };
  return html`${handoff
      ? html`<${Asked} handoff=${handoff} isWhole />`
      : html`<${Text} of=${request.escalation_reason ?? reason} title="Reason" isWhole />`}
    <div class="asked whole"><${Json} of=${request} title="The request" isWhole /></div>`;
}

/** @param {WholeReview} review */
function release({ id, version }) {
  ask({
    title: "Release this request",
    text: "This approves exactly this request, once. Nobody is asked again. A newer request refuses it.",
    confirm: "Release",
    run: () => released(id, { version }),
  });
}

/** Sends the versions that were read. @param {string} id @param {{version: number}} read */
async function released(id, read) {
  try {
    const made = /** @type {import("api").ReleasedReview} */ (await post(`/manual-reviews/${id}/release`, read));
    toast("Released");
    lookAgain();
    go(`/tasks/${made.task.id}`);
  } catch (error) {
    await askOfChanged(error, "this request", "Release", (known) => released(id, { ...read, ...known }));
  }
}

/** @param {WholeReview} review */
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
