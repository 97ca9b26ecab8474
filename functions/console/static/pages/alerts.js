/** What somebody should see: the gravest first, open until a person resolves it, out of sight while it is snoozed. */
import { html, memo, useEffect, useRef, useState } from "../lib.js";
import { useKeys } from "../core/keys.js";
import { useList, useLive } from "../core/live.js";
import { address, go, setQuery } from "../core/router.js";
import { handle, wake } from "./alerts/acts.js";
import { Ago, Empty, Key, Loading, Said, Trouble, Views } from "../ui/parts.js";

/** @typedef {import("api").AlertView} AlertView */
/** @typedef {import("./alerts/acts.js").Verb} Verb */
const LISTS = /** @type {Record<string, string>} */ ({
  open: "/alerts?state=open&snoozed=false",
  acknowledged: "/alerts?state=acknowledged&snoozed=false",
  snoozed: "/alerts?snoozed=true",
  resolved: "/alerts?state=resolved",
  all: "/alerts",
});
/** @type {Record<string, string>} */
const MARKS = { critical: "✕", warning: "!", info: "i" };
const URGENCY = ["critical", "warning", "info"];

const rank = (/** @type {{severity: string}} */ alert) => URGENCY.indexOf(alert.severity);
/** The gravest first; of equal ones the newest, as the list comes.
 * @template {{severity: string}} T @param {T[]} alerts @returns {T[]} */
export const urgentFirst = (alerts) => [...alerts].sort((one, other) => rank(one) - rank(other));

/** @type {[Verb, string, string][]} */
const BULK = [["acknowledge", "Acknowledge", "a"], ["snooze", "Snooze", "s"], ["resolve", "Resolve", "r"]];
/** @type {Record<string, string>} */
const NONE = { open: "Nothing is wrong", snoozed: "None is snoozed" };

const spelled = (/** @type {string} */ kind) => kind.replaceAll("_", " ");
const isSnoozed = (/** @type {AlertView} */ { snoozed_until: at }) => at !== null && Date.parse(at) > Date.now();

/** So many are drawn at first, and each time one asks for more or goes further by keys. */
const DRAWN = 60;

/** @param {{query: Record<string, string>}} props */
export default function Alerts({ query }) {
  const state = query.state ?? "open";
  const { data, problem, isLoading } = useList(LISTS[state] ?? "/alerts", { isFirst: true });
  const [marked, setMarked] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
  const [answers, setAnswers] = useState(/** @type {import("./alerts/acts.js").Answers} */ (new Map()));
  const all = urgentFirst(/** @type {AlertView[]} */ (data?.items ?? []));
  const fit = all.filter(({ severity, kind }) => [severity, ""].includes(query.severity ?? "")
    && [kind, ""].includes(query.kind ?? ""));
  const [most, setMost] = useState(DRAWN);
  const listed = useRef(/** @type {Set<string>} */ (new Set())); // one that has left the list is looked at no more
  for (const alert of all) listed.current.add(alert.id);
  const isLinked = query.alert && data && !listed.current.has(query.alert);
  const linked = useLive(isLinked ? `/alerts/${encodeURIComponent(query.alert ?? "")}` : null);
  const alerts = linked.data ? [/** @type {AlertView} */ (linked.data), ...fit] : fit;
  const at = alerts.find((alert) => alert.id === query.alert) ?? null;
  const chosen = alerts.filter((alert) => marked.has(alert.id));
  const meant = (chosen.length > 0 ? chosen : at ? [at] : []).filter((alert) => alert.state !== "resolved");
  const index = at ? alerts.indexOf(at) : -1;
  const move = (/** @type {number} */ by) => {
    setQuery({ alert: alerts[Math.min(alerts.length - 1, Math.max(0, index + by))]?.id ?? null });
  };
  useEffect(() => { if (at) document.getElementById(at.id)?.focus(); }, [at?.id]);

  const mark = (/** @type {string[]} */ ids, /** @type {boolean} */ isOn) => {
    const next = new Set(marked);
    for (const id of ids) isOn ? next.add(id) : next.delete(id);
    setMarked(next);
  };
  const then = (/** @type {import("./alerts/acts.js").Answers} */ came) => {
    setAnswers(came);
    mark([...came.keys()].filter((id) => !came.get(id)), false);
  };
  const act = (/** @type {Verb} */ verb) => () => {
    const of = verb === "acknowledge" ? meant.filter((alert) => alert.state === "open") : meant;
    if (of.length > 0) handle(of, verb, then);
  };
  useKeys("Alerts", {
    j: { repeats: true, does: "next alert", run: () => move(1) },
    k: { repeats: true, does: "alert before", run: () => move(-1) },
    m: { does: "mark, for what is done to many", run: () => { if (at) mark([at.id], !marked.has(at.id)); } },
    a: { does: "acknowledge", run: act("acknowledge") },
    s: { does: "snooze", run: act("snooze") },
    r: { does: "resolve", run: act("resolve") },
    o: { does: "open its task", run: () => { if (at?.task_id) go(`/tasks/${at.task_id}`); } },
  });
  const latest = useRef({ mark, then });
  latest.current = { mark, then };
  const draw = (/** @type {AlertView} */ alert) => html`<${Alert} key=${alert.id} alert=${alert} isAt=${alert === at}
    isMarked=${marked.has(alert.id)} wrong=${answers.get(alert.id) ?? ""} latest=${latest} />`;
  const last = Math.max(most, index + 1 + DRAWN / 2);
  const shown = `${alerts.length}${fit.length < all.length ? ` of ${all.length}` : ""} shown`;
  return html`<div class="head">
      <h1>Alerts</h1>
      ${data && html`<span class="faint" role="status">${shown}</span>`}
    </div>
    <${Views} label="Which" of=${Object.keys(LISTS).map((each) => ({
    name: each,
    href: address("/alerts", { ...query, alert: null, state: each === "open" ? null : each }),
    isChosen: each === state,
  }))} />
    <${Filters} of=${all} query=${query} />
    <div class="row acts">
      ${BULK.map(([verb, name, key]) => html`<button key=${verb} type="button" disabled=${meant.length === 0}
        onClick=${act(verb)}>
        ${name}${chosen.length > 0 ? ` ${chosen.length}` : ""} <${Key}>${key}<//>
      </button>`)}
      <button type="button" class="quiet" disabled=${alerts.length === 0}
        onClick=${() => mark(alerts.map((alert) => alert.id), chosen.length === 0)}>
        ${chosen.length > 0 ? "Mark none" : "Mark all"}
      </button>
    </div>
    <${Trouble} of=${problem} what="The list can't be read." />
    <${Trouble} of=${linked.problem} what="The alert of the address can't be read." />
    ${isLoading || (data?.isPart && alerts.length === 0) ? html`<${Loading} />`
    : alerts.length > 0 ? html`<ul class="cards alerts">${alerts.slice(0, last).map(draw)}</ul>
      ${alerts.length > last && html`<p>
        <button type="button" onClick=${() => setMost(last + 4 * DRAWN)}>
          Show more of the other ${alerts.length - last}
        </button>
      </p>`}
      ${data?.more && html`<p class="faint">There are more: these are the newest ${all.length}.</p>`}`
    : !problem && html`<${Empty} title=${all.length > 0 ? "None fits" : NONE[state] ?? "There is none"}>
        <p>
          Baton raises an alert where work waits too long, comes back too often or can't be delivered. Agents and
          ${" "}services raise their own.
        </p>
      <//>`}`;
}

/** @param {{of: AlertView[], query: Record<string, string>}} props */
function Filters({ of, query }) {
  const kinds = [...new Set([...of.map((alert) => alert.kind), ...(query.kind ? [query.kind] : [])])].sort();
  const set = (/** @type {string} */ name) => (/** @type {Event} */ { currentTarget }) => {
    setQuery({ [name]: /** @type {HTMLSelectElement} */ (currentTarget).value, alert: null });
  };
  return html`<div class="filters" role="search">
    <label>Severity <select onChange=${set("severity")}>
      <option value="">any</option>
      ${URGENCY.map((each) => html`<option value=${each} selected=${each === query.severity}>${each}</option>`)}
    </select></label>
    <label>Kind <select onChange=${set("kind")}>
      <option value="">any</option>
      ${kinds.map((each) => html`<option value=${each} selected=${each === query.kind}>${spelled(each)}</option>`)}
    </select></label>
  </div>`;
}

/** Who did what, and when. @param {{says: string, by: string | null, at: string | null}} props */
const Deed = ({ says, by, at }) => by && html`<p class="faint">${says} by <${Said} of=${by} /> <${Ago} at=${at} /></p>`;

const Alert = memo((/** @type {{alert: AlertView, isAt: boolean, isMarked: boolean, wrong: string, latest: {current: {
 *   mark: (ids: string[], isOn: boolean) => void,
 *   then: (answers: import("./alerts/acts.js").Answers) => void}}}} */ { alert, isAt, isMarked, wrong, latest }) => {
  const stay = (/** @type {Event} */ event) => event.stopPropagation();
  return html`<li class=${`card ${isAt ? "at" : ""}`} id=${alert.id} tabindex="-1"
    aria-current=${isAt ? "true" : undefined} onClick=${() => setQuery({ alert: alert.id })}>
    <p class="row">
      <input type="checkbox" checked=${isMarked} aria-label=${`Mark: ${alert.message.slice(0, 80)}`}
        onClick=${stay} onChange=${() => latest.current.mark([alert.id], !isMarked)} />
      <span class=${`severity ${alert.severity}`}>
        <span aria-hidden="true">${MARKS[alert.severity]}</span>${" "}${alert.severity}
      </span>
      <strong><${Said} of=${spelled(alert.kind)} /></strong>
      <span class="faint"><${Ago} at=${alert.raised_at} /> · <${Said} of=${alert.raised_by} /></span>
    </p>
    <${Said} of=${alert.message} block />
    ${alert.note && html`<p class="faint">Note: <${Said} of=${alert.note} /></p>`}
    <${Deed} says="Acknowledged" by=${alert.acknowledged_by} at=${alert.acknowledged_at} />
    <${Deed} says="Resolved" by=${alert.resolved_by} at=${alert.resolved_at} />
    ${isSnoozed(alert) && html`<${Deed} says="Snoozed" by=${alert.snoozed_by} at=${alert.snoozed_at} />
      <p class="faint">
        It is back <${Ago} at=${alert.snoozed_until} />${" "}
        <button type="button" onClick=${() => wake([alert], latest.current.then)}>Bring it back</button>
      </p>`}
    ${wrong && html`<p class="wrong" role="alert"><${Said} of=${wrong} /></p>`}
    ${alert.task_id && html`<p><a href=${address(`/tasks/${alert.task_id}`)}>Open the task</a></p>`}
  </li>`;
});
