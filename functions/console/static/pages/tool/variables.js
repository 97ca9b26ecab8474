/** The arguments of a tool, as rows of a form. */
import { html } from "../../lib.js";
import { Said } from "../../ui/parts.js";

/** @typedef {{name: string, type: string, required: boolean, description: string, enum?: any[]}} Variable */
const TYPES = ["string", "number", "boolean", "object", "array"];

/** `wrong`: what is wrong at a place among them, "" for all of them.
 * @param {{of: Variable[], set: (next: Variable[]) => void, wrong: (place: string) => string | undefined}} props */
export function Variables({ of, set, wrong }) {
  const put = (/** @type {number} */ at, /** @type {Partial<Variable>} */ change) => set(of.map((each, index) => (index === at ? { ...each, ...change } : each)));
  return html`<fieldset class="variables"><legend>Variables</legend>
    ${of.map((each, at) => html`<div key=${at}><div class="row">
      <input aria-label="Variable's name" required value=${each.name} placeholder="name" onInput=${(/** @type {any} */ event) => put(at, { name: event.target.value })} />
      <select aria-label="Variable's type" onChange=${(/** @type {any} */ event) => put(at, { type: event.target.value, enum: [] })}>${TYPES.map((type) => html`<option value=${type} selected=${type === each.type}>${type}</option>`)}</select>
      <label><input type="checkbox" checked=${each.required} onChange=${(/** @type {any} */ event) => put(at, { required: event.target.checked })} /> required</label>
      <input aria-label="Variable's description" class="long" value=${each.description} placeholder="what it is for" onInput=${(/** @type {any} */ event) => put(at, { description: event.target.value })} />
      <button type="button" class="quiet" aria-label=${`Remove ${each.name || "the variable"}`} onClick=${() => set(of.filter((_, index) => index !== at))}>✕</button></div><${Wrong} of=${wrong(`.${at}`)} /></div>`)}
    <${Wrong} of=${wrong("")} />
    <button type="button" onClick=${() => set([...of, { name: "", type: "string", required: true, description: "" }])}>Add a variable</button></fieldset>`;
}

/** @param {{of: string | undefined}} props */
const Wrong = ({ of }) => (of ? html`<p class="wrong"><${Said} of=${of} /></p>` : null);
