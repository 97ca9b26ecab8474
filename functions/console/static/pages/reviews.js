/** The list of requests that a rule stopped. */
import { html } from "../lib.js";
import { useList } from "../core/live.js";
import { address } from "../core/router.js";
import { Ago, Empty, Loading, Trouble, Views, Way } from "../ui/parts.js";
import { Table } from "../ui/table.js";

/** @typedef {import("api").ReviewView} ReviewView */
/** @type {Record<string, string>} */
export const REASONS = { escalation_cap: "the cap of its direction", loop_guard: "the loop guard" };
/** Colours of task states. @type {Record<string, string>} */
export const LOOKS = { open: "needs", released: "done", closed: "cancelled" };

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
