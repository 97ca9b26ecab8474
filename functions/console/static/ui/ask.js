/** A question in a dialog: fields, a button, and what the API said against it. */
import { html, signal, useEffect, useId, useRef, useState } from "../lib.js";
import { Problem } from "../core/api.js";
import { onSignIn, onSignOut } from "../core/session.js";
import { useTyped } from "../core/typed.js";
import { zone } from "../core/zone.js";
import { Hidden, Said, Trouble } from "./parts.js";

/** `at`: where the API's request has it, by default under its name.
 * @typedef {{name: string, label: any, at?: string, type?: string, value?: string, required?: boolean, hint?: any,
 *   min?: string, max?: string, step?: string, rows?: number, isCode?: boolean, wrong?: string | undefined,
 *   options?: [string, any][]}} FieldOf */
/** `run` may throw: what it throws is shown, and the fields stay as they are. `keep`: what the button says that does
 * nothing. `isOfNobody`: it is asked whoever is signed in, and stays when a session ends.
 * @typedef {{title: string, text?: any, fields?: FieldOf[], confirm: string, keep?: string, danger?: boolean,
 *   isOfNobody?: boolean, run: (values: Record<string, string>) => unknown}} Question */

/** The one that was asked last is in front. @type {import("../vendor/signals.js").Signal<Question[]>} */
const asked = signal([]);
/** What was asked as the session ended: the same person goes on with it. @type {Question[]} */
let aside = [];

onSignOut(() => {
  aside = asked.value.filter((question) => !question.isOfNobody);
  asked.value = asked.value.filter((question) => question.isOfNobody);
});
onSignIn((isSame) => {
  if (isSame) asked.value = [...aside, ...asked.value];
  aside = [];
});

/** @param {Question} question */
export function ask(question) {
  asked.value = [...asked.value.filter((each) => each.title !== question.title), question];
}

export function Asking() {
  return asked.value.map((question) => html`<${Dialog} key=${question.title} of=${question}
    onEnd=${() => { asked.value = asked.value.filter((each) => each !== question); }} />`);
}

/** @param {{of: Question, onEnd: () => void}} props */
function Dialog({ of, onEnd }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const id = useId();
  const [trouble, setTrouble] = useState(/** @type {unknown} */ (null));
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    return () => dialog?.close(); // which gives the focus back
  }, []);
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (isBusy) return;
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
      focusWrong(form);
    }
  };
  return html`<dialog ref=${box} aria-labelledby=${id} onCancel=${onEnd}>
    <form onSubmit=${submit}>
      <h2 id=${id}>${of.title}</h2>
      ${of.text && html`<div class="why">${of.text}</div>`}
      ${(of.fields ?? []).map((field) => html`<${field.type === "radio" ? Choice : Field} key=${field.name}
        of=${{ ...field, wrong: wrongAt(trouble, field) }} />`)}
      <${Trouble} of=${trouble} />
      <div class="row end">
        <button type="button" onClick=${onEnd}>${of.keep ?? "Keep as it is"}</button>
        <button type="submit" class=${of.danger ? "danger" : "primary"} aria-disabled=${isBusy}>
          ${isBusy ? "Working …" : of.confirm}
        </button>
      </div>
    </form>
  </dialog>`;
}

/** The first field that is wrong, once it is drawn. @param {HTMLElement | null} form */
export function focusWrong(form) {
  requestAnimationFrame(() => {
    const wrong = form?.querySelector("[aria-invalid]");
    if (wrong instanceof HTMLElement) wrong.focus();
    else form?.querySelector("[role=alert]")?.scrollIntoView({ block: "center" });
  });
}

/** What the API said against a field, or against a part of what it holds.
 * @param {unknown} trouble @param {FieldOf} field */
export function wrongAt(trouble, { name, at = name }) {
  const errors = trouble instanceof Problem ? trouble.errors : [];
  const found = errors.filter(({ field }) => field === at || field.startsWith(`${at}.`) || field.startsWith(`${at}[`));
  const partOf = (/** @type {string} */ field) => field.slice(at.length).replace(/^\./, "");
  const said = found.map(({ field, message }) => (field === at ? message : `${partOf(field)}: ${message}`));
  return said.join("; ") || undefined;
}

/** A labelled field of a form. What is typed outlives the session, a secret doesn't.
 * @param {{of: FieldOf, onInput?: (event: Event) => void}} props */
export function Field({ of: { value: first = "", ...rest }, onInput }) {
  const control = useRef(/** @type {HTMLInputElement | null} */ (null));
  const typed = useTyped(rest.name, () => (
    rest.type === "password" || !control.current || control.current.value === first ? undefined
      : control.current.value));
  const of = { ...rest, value: typed ?? first };
  const id = `field-${of.name}`;
  const common = {
    id, ref: control, name: of.name, required: of.required, onInput,
    "aria-invalid": of.wrong ? "true" : undefined,
    "aria-describedby": [of.hint && `${id}-hint`, of.wrong && `${id}-wrong`].filter(Boolean).join(" ") || undefined,
  };
  return html`<div class="field">
    <label for=${id}>
      ${of.label}
      ${of.type === "datetime-local" && html` <span class="faint">in ${zone.value}</span>`}
      ${of.required ? "" : html` <span class="faint">(optional)</span>`}
    </label>
    ${controlOf(of, common)}
    <${Hidden} of=${of.value ?? ""} />
    ${of.hint && html`<p id=${`${id}-hint`} class="faint">${of.hint}</p>`}
    ${of.wrong && html`<p id=${`${id}-wrong`} class="wrong"><${Said} of=${of.wrong} /></p>`}
  </div>`;
}

/** One of several, all of them in sight. @param {{of: FieldOf}} props */
function Choice({ of }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const typed = useTyped(of.name, () => {
    const chosen = /** @type {HTMLInputElement | null | undefined} */ (box.current?.querySelector(":checked"))?.value;
    return chosen === of.value ? undefined : chosen;
  });
  const hint = of.hint ? `field-${of.name}-hint` : undefined;
  return html`<fieldset class="field choices" ref=${box} aria-describedby=${hint}>
    <legend>${of.label}${of.required ? "" : html` <span class="faint">(optional)</span>`}</legend>
    ${(of.options ?? []).map(([value, text]) => html`<label key=${value}>
      <input type="radio" name=${of.name} value=${value} required=${of.required}
        defaultChecked=${value === (typed ?? of.value)} /> <span>${text}</span>
    </label>`)}
    ${of.hint && html`<p id=${hint} class="faint">${of.hint}</p>`}
  </fieldset>`;
}

/** @param {FieldOf} of @param {Record<string, unknown>} common */
function controlOf(of, common) {
  if (of.type === "textarea") {
    const looks = of.isCode ? { class: "code", spellcheck: false } : {};
    return html`<textarea ...${common} ...${looks} rows=${of.rows ?? 3} defaultValue=${of.value ?? ""}></textarea>`;
  }
  if (of.type === "select") {
    return html`<select ...${common}>${(of.options ?? []).map(([value, text]) => html`
      <option value=${value} selected=${value === of.value}>${text}</option>`)}</select>`;
  }
  return html`<input ...${common} type=${of.type ?? "text"} defaultValue=${of.value ?? ""}
    min=${of.min} max=${of.max} step=${of.step} autocomplete="off" />`;
}
