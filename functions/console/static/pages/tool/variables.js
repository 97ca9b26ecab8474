/** The arguments of a tool, as rows of a form. */
import { html, useState } from "../../lib.js";
import { Hidden, Said } from "../../ui/parts.js";

/** @typedef {{name: string, type: string, required: boolean, description: string, enum: unknown[]}} Variable */
/** `choices`: the allowed values as they are typed, one a line.
 * @typedef {{key: number, name: string, type: string, required: boolean, description: string, choices: string}} Row */
const TYPES = ["string", "number", "boolean", "object", "array"];
let keys = 0;

/** @param {Variable[]} variables @returns {Row[]} */
export const rowsOf = (variables) => variables.map(({ enum: values, ...rest }) => ({
  ...rest, key: keys++, choices: values.map((value) => written(value)).join("\n"),
}));

/** What the rows say, as the API takes it. @param {Row[]} rows @returns {Variable[]} */
export const variablesOf = (rows) => rows.map(({ name, type, required, description, choices }) => ({
  name, type, required, description,
  enum: choices.split("\n").filter((line) => line.trim()).map((line) => meant(line, type)),
}));

/** A text stands as it is where its line can't be taken for another one. @param {unknown} value */
function written(value) {
  return typeof value === "string" && value === value.trim() && /^[^"\r\n]+$/.test(value)
    ? value : JSON.stringify(value);
}

/** A line that is no JSON is a text; the API says where that isn't allowed.
 * @param {string} line @param {string} type @returns {unknown} */
function meant(line, type) {
  const text = line.trim();
  if (type === "string" && !text.startsWith('"')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** `wrong`: what is wrong at a place among them, "" for all of them.
 * @param {{of: Row[], set: (next: Row[]) => void, wrong: (place: string) => string | undefined}} props */
export function Variables({ of, set, wrong }) {
  return html`<fieldset class="variables"><legend>Variables</legend>
    ${of.map((row, at) => html`<${One} key=${row.key} of=${row} wrong=${wrong(`.${at}`)}
      put=${(/** @type {Partial<Row>} */ change) =>
        set(of.map((each) => (each === row ? { ...row, ...change } : each)))}
      drop=${() => set(of.filter((each) => each !== row))} />`)}
    <${Wrong} of=${wrong("")} />
    <button type="button" onClick=${() => set([...of,
      { key: keys++, name: "", type: "string", required: true, description: "", choices: "" }])}>Add a variable</button>
  </fieldset>`;
}

/** @param {{of: Row, wrong: string | undefined, put: (change: Partial<Row>) => void, drop: () => void}} props */
function One({ of, wrong, put, drop }) {
  const typed = (/** @type {keyof Row} */ name) => (/** @type {any} */ event) => put({ [name]: event.target.value });
  const count = of.choices.split("\n").filter((line) => line.trim()).length;
  const [isOpen] = useState(count > 0);
  const hint = `choices-${of.key}`;
  return html`<div class="variable">
    <div class="row">
      <input aria-label="Variable's name" required value=${of.name} placeholder="name" onInput=${typed("name")} />
      <select aria-label="Variable's type" onChange=${typed("type")}>
        ${TYPES.map((type) => html`<option value=${type} selected=${type === of.type}>${type}</option>`)}
      </select>
      <label><input type="checkbox" checked=${of.required}
        onChange=${(/** @type {any} */ event) => put({ required: event.target.checked })} /> required</label>
      <input aria-label="Variable's description" class="long" value=${of.description} placeholder="what it is for"
        onInput=${typed("description")} />
      <button type="button" class="quiet" aria-label=${`Remove ${of.name || "the variable"}`} onClick=${drop}>
        ✕</button>
    </div>
    <details class="data" open=${isOpen}>
      <summary>${count > 0 ? `${count} allowed value${count === 1 ? "" : "s"}` : "Any value is allowed"}</summary>
      <textarea rows="3" aria-label="Allowed values" aria-describedby=${hint} value=${of.choices}
        onInput=${typed("choices")}></textarea>
      <p id=${hint} class="faint">One a line, at most 50; none allows
        any. ${of.type === "string" ? "A text as it is, or in quotes as JSON." : "Each as JSON."}</p>
    </details>
    <${Hidden} of=${`${of.description}\n${of.choices}`} />
    <${Wrong} of=${wrong} />
  </div>`;
}

/** @param {{of: string | undefined}} props */
const Wrong = ({ of }) => (of ? html`<p class="wrong"><${Said} of=${of} /></p>` : null);
