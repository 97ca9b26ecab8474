/** Who hands to whom: a matrix of sources and targets, and what became of the handoffs of one direction. */
import { html } from "../lib.js";
import { useList, useLive } from "../core/live.js";
import { address, setQuery } from "../core/router.js";
import { length, now } from "../core/time.js";
import { Ago, Empty, Facts, Loading, Said, State, Trouble, Views, Way } from "../ui/parts.js";

/** @typedef {import("api").DirectionView} Direction */
/** @typedef {import("api").ReviewView} Review */

const SINCE = /** @type {Record<string, number>} */ ({ day: 1, week: 7, month: 30 });
const OPEN_WORK = "anyone";
const MINUTE_MS = 60_000;

/** @param {{query: Record<string, string>}} props */
export default function Directions({ query }) {
  const days = SINCE[query.since ?? "week"] ?? 7;
  const since = sinceOf(days);
  const { data, problem, isLoading } = useLive(`/graph/directions?since=${encodeURIComponent(since)}`,
    { everyMs: 10_000 });
  const { data: reviews } = useList("/manual-reviews?state=open", { everyMs: 20_000 });
  const page = /** @type {import("api").DirectionPage | null} */ (data);
  const stopped = /** @type {Review[]} */ (reviews?.items ?? []);
  const chosen = page?.items.find((one) => one.source === query.source && (one.target ?? OPEN_WORK) === query.target);
  return html`<div class="head">
      <h1>Directions</h1>
      <span class="faint">${page ? `${page.items.length} directions, ${page.is_whole ? ""
        : "at least "}${total(page.items).toLocaleString()} handoffs` : ""}</span>
    </div>
    <${Views} label="Since" of=${Object.entries(SINCE).map(([each, its]) => ({
      name: `the last ${each}`, href: address("/directions", { ...query, since: each }), isChosen: its === days,
    }))} />
    <${Trouble} of=${problem} what="The directions can't be read." />
    ${page && !page.is_whole && html`<p class="notice">There was more than one look takes in: these are the
      newest ${total(page.items).toLocaleString()} handoffs, since <${Ago} at=${page.counted_since} />. What was before
      isn't in any number here.</p>`}
    ${isLoading ? html`<${Loading} />`
    : page && page.items.length > 0 ? html`<${Matrix} of=${page.items} stopped=${stopped} chosen=${chosen} />
      ${chosen ? html`<${One} key=${`${chosen.source} ${chosen.target}`} of=${chosen} since=${since}
        stopped=${stopped} />`
      : html`<p class="faint">Rows hand over, columns take. Choose a number to see its handoffs.</p>`}`
    : !problem && html`<${Empty} title="Nobody handed anything over"><p>Each pair of agents that hands work over stands
      here, with what became of it: a source that fails often, or a pair that passes work to and fro, is seen at
      once.</p><//>`}`;
}

/** To the minute, so that the read's address stays the same for a while. @param {number} days */
function sinceOf(days) {
  return new Date(Math.floor(now.value / (10 * MINUTE_MS)) * 10 * MINUTE_MS - days * 1440 * MINUTE_MS).toISOString();
}

/** @param {Direction[]} directions */
const total = (directions) => directions.reduce((sum, one) => sum + one.handoffs, 0);

/** @param {{of: Direction[], stopped: Review[], chosen: Direction | undefined}} props */
function Matrix({ of, stopped, chosen }) {
  const sources = [...new Set(of.map((one) => one.source))].sort();
  const targets = [...new Set(of.map((one) => one.target ?? OPEN_WORK))].sort();
  return html`<div class="matrix" role="region" aria-label="Who hands to whom" tabindex="0"><table>
    <thead><tr>
      <th scope="col">from \\ to</th>
      ${targets.map((target) => html`<th key=${target} scope="col"><${Said} of=${target} /></th>`)}
    </tr></thead>
    <tbody>${sources.map((source) => html`<tr key=${source}>
      <th scope="row"><${Said} of=${source} /></th>
      ${targets.map((target) => html`<td key=${target}>
        <${Cell} of=${of.find((one) => one.source === source && (one.target ?? OPEN_WORK) === target)}
          stopped=${stopped} chosen=${chosen} /></td>`)}
    </tr>`)}</tbody>
  </table></div>`;
}

/** @param {{of: Direction | undefined, stopped: Review[], chosen: Direction | undefined}} props */
function Cell({ of, stopped, chosen }) {
  if (!of) return html`<span class="faint" aria-label="none">·</span>`;
  const target = of.target ?? OPEN_WORK;
  const bad = of.failed + of.rejected;
  const waiting = reviewsOf(of, stopped).length;
  const says = `${of.source} to ${target}: ${of.handoffs} handoffs, ${bad} failed or rejected, ${of.open} open${waiting
    ? `, ${waiting} stopped for review` : ""}`;
  return html`<button type="button" aria-label=${says} title=${says} aria-pressed=${of === chosen}
    onClick=${() => setQuery({ source: of.source, target })}>
    <strong>${of.handoffs}</strong>
    ${bad > 0 && html` <span class="flag">✕ ${bad}</span>`}
    ${waiting > 0 && html` <span class="severity warning">! ${waiting}</span>`}
  </button>`;
}

/** @param {Direction} direction @param {Review[]} stopped */
const reviewsOf = (direction, stopped) => stopped.filter((review) => review.source_agent === direction.source
  && review.target_agent === direction.target);

/** @param {{of: Direction, since: string, stopped: Review[]}} props */
function One({ of, since, stopped }) {
  const filter = new URLSearchParams({
    source: of.source, since, ...(of.target && { target: of.target }), limit: "25",
  });
  const { data, problem, isLoading } = useLive(`/handoffs?${filter}`, { everyMs: 10_000 });
  const all = /** @type {import("api").HandoffPage | null} */ (data)?.items ?? [];
  const handoffs = of.target ? all : all.filter((one) => one.target_agent === null);
  const reviews = reviewsOf(of, stopped);
  return html`<section class="card" aria-labelledby="direction">
    <h2 id="direction"><${Way} from=${of.source} to=${of.target} /></h2>
    ${reviews.map((review) => html`<p class="notice" key=${review.id}>Stopped: ${review.count} asked for
      more. <a href=${address(`/reviews/${review.id}`)}>Judge it</a></p>`)}
    <${Facts} of=${[
      ["Handoffs", of.handoffs], ["Done", of.done], ["Failed", of.failed || null],
      ["Rejected", of.rejected || null], ["Cancelled", of.cancelled || null], ["Open", of.open],
      ["Half took", of.median_seconds !== null && `up to ${length(of.median_seconds)}`],
      ["Last", html`<${Ago} at=${of.last_at} />`],
    ]} />
    <${Trouble} of=${problem} what="Its handoffs can't be read." />
    ${isLoading ? html`<${Loading} />`
    : html`<ul class="log">${handoffs.map((one) => html`<li key=${one.handoff_id}>
      <${State} of=${one.state} />${" "}
      <a href=${address(`/tasks/${one.task_id}`)}><${Said} of=${one.title || one.task_id} /></a> <span class="faint">
        ${one.kind} · <${Ago} at=${one.created_at} /></span>
    </li>`)}</ul>`}
  </section>`;
}
