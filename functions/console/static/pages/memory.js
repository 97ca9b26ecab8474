/** What the workspace knows: found by words, or by the file that it holds for; newest first without them. What a
 * decision replaced is beside it. */
import { html } from "../lib.js";
import { useList, useLive } from "../core/live.js";
import { address, setQuery } from "../core/router.js";
import { Ago, Empty, Loading, Said, Trouble } from "../ui/parts.js";

/** @typedef {import("api").EntryView & {replaced?: import("api").ReplacedView[]}} Found */
const TYPES = ["decision", "warning", "finding", "constraint", "question", "answer", "need", "offer", "status",
  "artifact"];

/** @param {{query: Record<string, string>}} props */
export default function Memory({ query }) {
  const words = (query.q ?? "").trim();
  const asked = new URLSearchParams({
    ...(query.scope && { scope: query.scope }), ...(query.type && { entry_type: query.type }),
  });
  const file = (query.path ?? "").trim();
  const isSearch = Boolean(words || file);
  const search = file ? `/why?${new URLSearchParams({ path: file })}`
    : `/recall?${new URLSearchParams({ q: words, limit: "20" })}&${asked}`;
  const found = useLive(isSearch ? search : null, { everyMs: 15_000 });
  const newest = useList(isSearch ? null : `/blackboard${asked.size ? `?${asked}` : ""}`, { most: 100, everyMs: 5000 });
  const { data, problem, isLoading } = isSearch ? found : newest;
  const entries = /** @type {Found[]} */ (/** @type {any} */ (data)?.items ?? []);
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    setQuery({
      q: String(form.get("q")), scope: String(form.get("scope")), type: String(form.get("type")),
      path: String(form.get("path")),
    });
  };
  return html`<div class="head"><h1>Memory</h1></div>
    <form class="filters" role="search" onSubmit=${submit}>
      <label>Words <input type="search" name="q" defaultValue=${query.q ?? ""} /></label>
      <label>Scope <input name="scope" defaultValue=${query.scope ?? ""} placeholder="project" /></label>
      <label>Type <select name="type">
        <option value="">any</option>
        ${TYPES.map((type) => html`<option value=${type} selected=${type === query.type}>${type}</option>`)}
      </select></label>
      <label>Or why a file is so <input name="path" defaultValue=${query.path ?? ""}
        placeholder="src/auth/session.py" /></label>
      <button type="submit">Search</button>
    </form>
    <${Trouble} of=${problem} what="It can't be searched." />
    ${isLoading ? html`<${Loading} />`
    : entries.length > 0 ? html`
      <ul class="cards">${entries.map((entry) => html`<${Entry} key=${entry.id} entry=${entry} />`)}</ul>
      <${Bound} isSearch=${isSearch} of=${/** @type {any} */ (data)} />`
    : !problem && html`<${Empty} title=${isSearch ? "Nothing fits" : "Nothing is known yet"}>
      <p>Agents, people and services post decisions, warnings and findings for each
        other: <code>POST /blackboard</code>. A decision says why, and names the one that it replaces.</p><//>`}`;
}

/** What else there may be.
 * @param {{isSearch: boolean, of: {items: Found[], more?: boolean, is_whole?: boolean, searched?: number}}} props */
function Bound({ isSearch, of }) {
  if (!isSearch) return of.more
    ? html`<p class="faint">These are the newest ${of.items.length}: words find the others.</p>` : null;
  return of.is_whole === false
    ? html`<p class="faint">Searched among the newest ${of.searched?.toLocaleString()} entries.</p>` : null;
}

/** @param {{entry: Found}} props */
function Entry({ entry }) {
  return html`<li class="card">
    <p class="row">
      <span class=${`state ${standing(entry.status)}`}>
        ${entry.entry_type}${entry.status ? ` · ${entry.status}` : ""}</span>
      <a href=${address(`/memory/${entry.id}`)}><${Said} of=${entry.summary} /></a>
    </p>
    <p class="faint">
      <${Said} of=${entry.scope} /> · <${Said} of=${entry.posted_by} /> · <${Ago} at=${entry.posted_at} /></p>
    ${entry.rationale && html`<p>because <${Said} of=${entry.rationale} /></p>`}
    ${entry.replaced?.map((before) => html`<p class="faint" key=${before.id}>
      in place of <s><${Said} of=${before.summary} /></s> (<${Said} of=${before.posted_by} />, <${Ago}
        at=${before.posted_at} />)</p>`)}
  </li>`;
}

/** @param {string | null} status */
export const standing = (status) => (status === "superseded" || status === "overridden" ? "failed"
  : status === "active" ? "done" : "");
