/** A task's time on one axis: what it waited for, who was at work, and what happened meanwhile; as numbers, too. */
import { computed, html, useMemo, useState } from "../../lib.js";
import { exact, length, now } from "../../core/time.js";
import { useList } from "../../core/live.js";
import { Ago, Said } from "../../ui/parts.js";
import { MARKS, secondsOf, spansOf } from "./spans.js";

/** @typedef {import("./spans.js").Span} Span */
/** @typedef {import("api").EventView} EventView */

/** @typedef {import("api").ModelCallView} Call */
/** @type {[string, string, import("./spans.js").Kind[]][]} */
const LANES = [
  ["Waits for people", "person", ["person", "answers"]],
  ["Put off", "later", ["later"]],
  ["Waits for a worker", "worker", ["worker"]],
  ["At work", "work", ["work"]],
  ["Waits for others", "others", ["branches", "callback"]],
];
/** @type {Record<string, string>} */
const WORDS = {
  person: "waits for a person", later: "put off", worker: "waits for a worker", work: "at work",
  answers: "waits for people's answers", branches: "waits for what it delegated",
  callback: "waits for an answer from outside",
};
/** A clock that goes on moves what is drawn no more often than this. */
const STEP_MS = 5000;
const MOST_MARKS = 200;

/** @param {{id: string, events: EventView[], usage: {model_calls: number}}} props */
export function Timeline({ id, events, usage }) {
  const when = usage.model_calls;
  const { data } = useList(when > 0 ? `/tasks/${id}/model-calls` : null, { everyMs: 60_000, when });
  const calls = /** @type {Call[]} */ (data?.items ?? []);
  const clock = useMemo(() => computed(() => Math.floor(now.value / STEP_MS) * STEP_MS), []);
  const at = Math.max(clock.value, Date.parse(events.at(-1)?.at ?? "") || 0);
  const spans = useMemo(() => spansOf(events, at), [events, at]);
  if (spans.length === 0) return null;
  const marks = events.filter((event) => MARKS[event.type]).slice(-MOST_MARKS);
  const from = /** @type {Span} */ (spans[0]).began;
  const to = Math.max(...spans.map((span) => span.ended ?? at), from + 1000);
  const x = (/** @type {number} */ time) => (100 * (time - from)) / (to - from);
  const lanes = LANES.filter(([, , kinds]) => spans.some((span) => kinds.includes(span.kind)));
  return html`<section class="card timeline" aria-labelledby="timeline">
    <h2 id="timeline">Timeline${" "}
      <span class="faint">${length((to - from) / 1000)}
        ${usage.model_calls > 0 && ` · ${usage.model_calls.toLocaleString()} model calls`}</span>
    </h2>
    ${lanes.map(([name, looks, kinds]) => html`<${Lane} key=${name} name=${name} looks=${looks} x=${x} at=${at}
      spans=${spans.filter((span) => kinds.includes(span.kind))} />`)}
    ${marks.length > 0 && html`<div class="lane">
      <span>Events</span>
      <svg width="100%" height="18" role="img" aria-label=${countsOf(marks)}>
        ${marks.map((event) => html`<g key=${event.seq} class=${`mark-of ${event.type}`}>
          <title>${`${MARKS[event.type]}\n${exact(event.at)}`}</title>
          <rect x=${`${Math.min(x(Date.parse(event.at)), 99.6)}%`} y="2" width="3" height="14" />
        </g>`)}
      </svg>
    </div>`}
    ${calls.length > 0 && html`<${Calls} of=${calls} x=${x} />`}
    <p class="lane ends faint">
      <span></span>
      <span class="row">
        <${Ago} at=${new Date(from).toISOString()} />
        <span class="spread"></span>
        ${spans.at(-1)?.ended === null ? "now" : html`<${Ago} at=${new Date(to).toISOString()} />`}
      </span>
    </p>
    <${Numbers} spans=${spans} marks=${marks} calls=${calls} at=${at} />
  </section>`;
}

/** @param {{name: string, looks: string, spans: Span[], x: (time: number) => number, at: number}} props */
function Lane({ name, looks, spans, x, at }) {
  const total = spans.reduce((sum, span) => sum + secondsOf(span, at), 0);
  return html`<div class="lane">
    <span>${name} <span class="faint">${length(total)}</span></span>
    <svg width="100%" height="18" role="img" aria-label=${`${name}: ${length(total)}, ${spans.length} times`}>
      <rect class="ground" width="100%" height="18" rx="3" />
      ${spans.map((span) => html`<g key=${span.began}
        class=${`span-of ${looks} ${span.by ?? ""} ${span.ended === null ? "open" : ""}`}>
        <title>${`${WORDS[span.kind]}${span.agent && `: ${span.agent}, ${span.worker}`}\n${
          length(secondsOf(span, at))}`}</title>
        <svg x=${`${x(span.began)}%`} width=${`${Math.max(x(span.ended ?? at) - x(span.began), 0.3)}%`} height="18">
          <rect width="100%" height="18" rx="2" />
        </svg>
      </g>`)}
    </svg>
  </div>`;
}

/** A point for each reply of the model. @param {{of: Call[], x: (time: number) => number}} props */
function Calls({ of, x }) {
  const place = (/** @type {Call} */ call) => Math.max(0.5, Math.min(x(Date.parse(call.at)), 99.5));
  return html`<div class="lane">
    <span>Model calls <span class="faint">${of.length}</span></span>
    <svg width="100%" height="18" role="img" aria-label=${`Model calls: ${of.length}, ${tokensOf(of)} tokens`}>
      ${of.map((call) => html`<circle key=${call.turn} class="call-of" cx=${`${place(call)}%`} cy="9" r="3.5">
        <title>${`Reply ${call.turn}: ${tokensOf([call])} tokens\n${exact(call.at)}`}</title>
      </circle>`)}
    </svg>
  </div>`;
}

/** @param {Call[]} calls */
const tokensOf = (calls) =>
  calls.reduce((sum, each) => sum + each.input_tokens + each.output_tokens, 0).toLocaleString();

/** @param {{spans: Span[], marks: EventView[], calls: Call[], at: number}} props */
function Numbers({ spans, marks, calls, at }) {
  const [isOpen, setOpen] = useState(false);
  const toggle = (/** @type {any} */ event) => setOpen(event.currentTarget.open);
  return html`<details class="data" onToggle=${toggle}>
    <summary>As numbers</summary>
    ${isOpen && html`<div class="numbers" tabindex="0" role="region" aria-label="Timeline as numbers">
      <table>
        <thead><tr>
          ${["What", "From", "Length", "Ended by"].map((name) => html`<th scope="col">${name}</th>`)}
        </tr></thead>
        <tbody>${spans.map((span) => html`<${Row} key=${span.began} of=${span} at=${at} />`)}</tbody>
      </table>
      ${marks.length > 0 && html`<p class="faint">${countsOf(marks)}</p>`}
      ${calls.length > 0 && html`<table>
        <thead><tr>
          ${["Model call", "At", "Tokens read", "Tokens written", "Ended by"]
            .map((name) => html`<th scope="col">${name}</th>`)}
        </tr></thead>
        <tbody>${calls.map((call) => html`<tr key=${call.turn}>
          <td>${call.turn}, <${Said} of=${call.agent} />${call.scripted && " (scripted)"}</td>
          <td><${Ago} at=${call.at} /></td>
          <td>${call.input_tokens.toLocaleString()}</td>
          <td>${call.output_tokens.toLocaleString()}</td>
          <td>${(call.stop_reason ?? "").replaceAll("_", " ")}</td>
        </tr>`)}</tbody>
      </table>`}
    </div>`}
  </details>`;
}

/** @param {{of: Span, at: number}} props */
function Row({ of, at }) {
  const who = of.agent && html`: attempt ${of.attempt},${" "}<${Said} of=${of.agent} /> (<${Said} of=${of.worker} />)`;
  return html`<tr>
    <td>${WORDS[of.kind]}${who}</td>
    <td><${Ago} at=${new Date(of.began).toISOString()} /></td>
    <td>${length(secondsOf(of, at))}</td>
    <td>${of.ended === null ? "goes on" : (of.by ?? "time").replaceAll("_", " ")}</td>
  </tr>`;
}

/** @param {EventView[]} marks */
function countsOf(marks) {
  const counts = new Map();
  for (const { type } of marks) counts.set(MARKS[type], (counts.get(MARKS[type]) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${name}: ${count}`).join(", ");
}
