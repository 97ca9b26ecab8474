/** A form that makes or changes something: its fields, and at each what the API says against it. */
import { html, useRef, useState } from "../lib.js";
import { useOneKey } from "../core/typed.js";
import { Problem } from "../core/api.js";
import { parsed } from "../core/json.js";
import { fromField } from "../core/time.js";
import { Field, focusWrong, wrongAt } from "./ask.js";
import { Trouble } from "./parts.js";

/** `as`: how its text is read. `group`: its heading.
 * @typedef {import("./ask.js").FieldOf & {as?: keyof typeof READ, group?: string}} Entry */

/** What a field's text is to the API. */
const READ = {
  text: (/** @type {string} */ text) => text.trim(),
  number: (/** @type {string} */ text) => (text === "" ? null : Number(text)),
  lines: (/** @type {string} */ text) => text.split("\n").map((line) => line.trim()).filter(Boolean),
  time: (/** @type {string} */ text) => (text === "" ? "" : fromField(text)),
  pairs: (/** @type {string} */ text) => Object.fromEntries(READ.lines(text).map((line) => {
    const [name = "", ...rest] = line.split("=");
    return [name.trim(), rest.join("=").trim()];
  })),
  json: (/** @type {string} */ text) => (text.trim() === "" ? null : parsed(text)),
};

/** @param {Entry} entry @param {string} text */
function valueOf(entry, text) {
  try {
    return READ[entry.as ?? "text"](text);
  } catch (error) {
    const message = `It isn't JSON: ${error instanceof Error ? error.message : ""}`;
    throw new Problem(422, { detail: "A field can't be read.", errors: [{ field: entry.at ?? entry.name, message }] });
  }
}

/** `send` gets what was typed, read, by the fields' names, and the request's key: the same until it has got through.
 * @param {{of: Entry[], confirm: string, what: string, back: any, children?: any,
 *   send: (values: Record<string, any>, key: string) => Promise<unknown>}} props */
export function Form({ of, confirm, what, back, send, children }) {
  const [trouble, setTrouble] = useState(/** @type {unknown} */ (null));
  const [isBusy, setBusy] = useState(false);
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const key = useOneKey();
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (isBusy) return;
    const texts = new FormData(/** @type {HTMLFormElement} */ (form.current));
    setBusy(true);
    setTrouble(null);
    try {
      const read = (/** @type {Entry} */ entry) => valueOf(entry, String(texts.get(entry.name) ?? ""));
      const values = Object.fromEntries(of.map((entry) => [entry.name, read(entry)]));
      await send(values, key.of(values));
      key.done();
    } catch (error) {
      setTrouble(error);
      setBusy(false);
      focusWrong(form.current);
    }
  };
  const groups = [...new Set(of.map((entry) => entry.group ?? ""))];
  return html`<form class="making" ref=${form} onSubmit=${submit}>
    ${groups.map((group) => html`<fieldset class="card" key=${group}>
      <legend>${group}</legend>
      ${of.filter((entry) => (entry.group ?? "") === group).map((entry) =>
    html`<${Field} key=${entry.name} of=${{ ...entry, wrong: wrongAt(trouble, entry) }} />`)}
    </fieldset>`)}
    ${children}
    <${Trouble} of=${trouble} what=${what} />
    <div class="row end save">
      ${back}
      <button type="submit" class="primary" aria-disabled=${isBusy}>${isBusy ? "Working …" : confirm}</button>
    </div>
  </form>`;
}

/** Without what was left empty: the API then says what it is. @param {Record<string, unknown>} values @returns {any} */
export function given(values) {
  const isGiven = (/** @type {unknown} */ value) => value !== "" && value !== null && value !== undefined
    && !(typeof value === "object" && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(values).filter(([, value]) => isGiven(value)));
}
