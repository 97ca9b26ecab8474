/** A question in a dialog: fields, a button, and what the API said against it. */
import { html, signal, useEffect, useRef, useState } from "../lib.js";
import { Hidden, Said, Trouble } from "./parts.js";

/** @typedef {{name: string, label: string, type?: string, value?: string, required?: boolean, hint?: string, min?: string,
 *   max?: string, wrong?: string | undefined, options?: [string, string][]}} FieldOf */
/** `run` may throw: what it throws is shown, and the fields stay as they are.
 * @typedef {{title: string, text?: any, fields?: FieldOf[], confirm: string, danger?: boolean, run: (values: Record<string, string>) => unknown}} Question */

/** @type {import("../vendor/signals.js").Signal<Question | null>} */
const asked = signal(null);

/** @param {Question} question */
export function ask(question) {
  asked.value = question;
}

export function Asking() {
  return asked.value ? html`<${Dialog} key=${asked.value.title} of=${asked.value} onEnd=${() => { asked.value = null; }} />` : null;
}

/** @param {{of: Question, onEnd: () => void}} props */
function Dialog({ of, onEnd }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [trouble, setTrouble] = useState(/** @type {unknown} */ (null));
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    return () => dialog?.close(); // which gives the focus back
  }, []);
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    const values = /** @type {Record<string, string>} */ (Object.fromEntries(new FormData(form)));
    setBusy(true);
    setTrouble(null);
    try {
      await of.run(values);
      onEnd();
    } catch (error) {
      setTrouble(error);
      setBusy(false);
    }
  };
  return html`<dialog ref=${box} aria-labelledby="asked" onCancel=${onEnd}>
    <form onSubmit=${submit}>
      <h2 id="asked">${of.title}</h2>
      ${of.text && html`<div class="why">${of.text}</div>`}
      ${(of.fields ?? []).map((field) => html`<${Field} key=${field.name} of=${field} />`)}
      <${Trouble} of=${trouble} />
      <div class="row end">
        <button type="button" onClick=${onEnd}>Keep as it is</button>
        <button type="submit" class=${of.danger ? "danger" : "primary"} disabled=${isBusy}>${isBusy ? "Working …" : of.confirm}</button>
      </div>
    </form>
  </dialog>`;
}

/** A labelled field of a form. @param {{of: FieldOf, onInput?: (event: Event) => void}} props */
export function Field({ of, onInput }) {
  const id = `field-${of.name}`;
  const common = { id, name: of.name, required: of.required, onInput, "aria-invalid": of.wrong ? "true" : undefined, "aria-describedby": [of.hint && `${id}-hint`, of.wrong && `${id}-wrong`].filter(Boolean).join(" ") || undefined };
  return html`<div class="field">
    <label for=${id}>${of.label}${of.required ? "" : html` <span class="faint">(optional)</span>`}</label>
    ${control(of, common)}<${Hidden} of=${of.value ?? ""} />
    ${of.hint && html`<p id=${`${id}-hint`} class="faint">${of.hint}</p>`}
    ${of.wrong && html`<p id=${`${id}-wrong`} class="wrong"><${Said} of=${of.wrong} /></p>`}
  </div>`;
}

/** @param {FieldOf} of @param {Record<string, unknown>} common */
function control(of, common) {
  if (of.type === "textarea") return html`<textarea ...${common} rows="3" defaultValue=${of.value ?? ""}></textarea>`;
  if (of.type === "select") {
    return html`<select ...${common}>${(of.options ?? []).map(([value, text]) => html`<option value=${value} selected=${value === of.value}>${text}</option>`)}</select>`;
  }
  return html`<input ...${common} type=${of.type ?? "text"} defaultValue=${of.value ?? ""} min=${of.min} max=${of.max} autocomplete="off" />`;
}
