/** The controls of a list's filters and order. What they say is in the address. */
import { html, useMemo, useState } from "../lib.js";
import { AGES, choicesOf, FILTERS, isFiltered, PRIORITIES } from "../core/filters.js";
import { setQuery } from "../core/router.js";
import { plain } from "../core/said.js";

/** @typedef {import("api").ListedTask} ListedTask */
/** @typedef {[value: string, word: string]} Choice */

/** @param {string} text */
const itself = (text) => /** @type {Choice} */ ([text, text]);

/** One of several, or any. What the address says is a choice, too, where nothing has it now.
 * @param {{name: string, title: string, value: string | undefined, of: Choice[], any?: string}} props */
export function Choose({ name, title, value = "", of, any = "any" }) {
  const options = value && !of.some(([each]) => each === value) ? [...of, itself(value)] : of;
  const set = (/** @type {any} */ event) => setQuery({ [name]: event.target.value });
  return html`<label>${title} <select onChange=${set}>
    <option value="" selected=${value === ""}>${any}</option>
    ${options.map(([each, word]) => html`<option key=${each} value=${each} selected=${each === value}>
      ${plain(word)}
    </option>`)}
  </select></label>`;
}

/** Those that one needs seldom are folded, with the number of them that are set.
 * `kinds`: besides those of the tasks. `isAgentAsked`: the page has a field for it.
 * @param {{query: Record<string, string>, tasks: ListedTask[], kinds?: string[], isAgentAsked?: boolean}} props */
export function MoreFilters({ query, tasks, kinds = [], isAgentAsked = false }) {
  const names = FILTERS.filter((name) => name !== "q" && !(isAgentAsked && name === "agent"));
  const count = names.filter((name) => query[name]).length;
  const [isOpen, setOpen] = useState(count > 0);
  const choices = useMemo(() => choicesOf(isOpen ? tasks : []), [isOpen, tasks]); // of thousands: where they are seen
  const clear = () => setQuery(Object.fromEntries(FILTERS.map((name) => [name, null])));
  return html`<details class="more-filters" open=${isOpen}
      onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}>
    <summary>Filters${count > 0 ? ` (${count})` : ""}</summary>
    <div class="filters">
      <${Choose} name="priority" title="Priority" value=${query.priority} of=${PRIORITIES.map(itself)} />
      ${!isAgentAsked && html`<${Choose} name="agent" title="Agent" value=${query.agent}
        of=${choices.agent.map(itself)} />`}
      <${Choose} name="label" title="Label" value=${query.label} of=${choices.label.map(itself)} />
      <${Choose} name="kind" title="Kind" value=${query.kind} of=${[...kinds, ...choices.kind].map(itself)} />
      <${Choose} name="age" title="Age" value=${query.age} of=${AGES} />
      <${Choose} name="by" title="Asked by" value=${query.by} of=${choices.by.map(itself)} />
      ${isFiltered(query) && html`<button type="button" class="quiet" onClick=${clear}>Clear the filters</button>`}
    </div>
  </details>`;
}
