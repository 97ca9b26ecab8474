/** Tasks of all days, by words, label, agent or person: backwards in time, as far as one goes on. */
import { html, useEffect, useRef } from "../lib.js";
import { useLive } from "../core/live.js";
import { setQuery } from "../core/router.js";
import { STATES, stateWord } from "../core/states.js";
import { Results } from "./search/results.js";

const KINDS = ["escalation", "transfer", "delegation", "rollback", "continuation", "retry"];

/** @param {{query: Record<string, string>}} props */
export default function Search({ query }) {
  const { data } = useLive("/agents?limit=100", { everyMs: 30_000 });
  const agents = /** @type {import("api").AgentList | null} */ (data)?.items.map((agent) => agent.slug) ?? [];
  const words = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => { if (Object.keys(query).length === 0) words.current?.focus(); }, []);
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    setQuery(/** @type {Record<string, string>} */ (Object.fromEntries(form)));
  };
  return html`<div class="head"><h1>Search</h1></div>
    <form class="filters" role="search" onSubmit=${submit} key=${query.q ?? ""}>
      <label>Words <input type="search" name="q" ref=${words} defaultValue=${query.q ?? ""} maxlength="200" /></label>
      <label>Label <input name="label" defaultValue=${query.label ?? ""} placeholder="team=blue" /></label>
      <${Choice} name="agent" label="Agent" of=${agents} chosen=${query.agent} />
      <label>Asked by <input name="by" defaultValue=${query.by ?? ""} placeholder="human:alice" /></label>
      <${Choice} name="state" label="State" of=${STATES} chosen=${query.state} say=${stateWord} />
      <${Choice} name="priority" label="Priority" of=${["P0", "P1", "P2"]} chosen=${query.priority} />
      <${Choice} name="kind" label="Kind" of=${KINDS} chosen=${query.kind} />
      <label>Since <input type="date" name="since" defaultValue=${(query.since ?? "").slice(0, 10)} /></label>
      <button type="submit">Search</button>
    </form>
    <${Results} query=${query} />`;
}

/** @param {{name: string, label: string, of: string[], chosen: string | undefined,
 *   say?: (each: string) => string}} props */
function Choice({ name, label, of, chosen, say = (each) => each }) {
  const known = chosen && !of.includes(chosen) ? [...of, chosen] : of;
  return html`<label>${label} <select name=${name}>
    <option value="">any</option>
    ${known.map((each) => html`<option value=${each} selected=${each === chosen}>${say(each)}</option>`)}
  </select></label>`;
}
