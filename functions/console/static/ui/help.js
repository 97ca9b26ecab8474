/** The list of keys: what works on the page at hand. */
import { html, signal, useLayoutEffect, useRef } from "../lib.js";
import { active } from "../core/keys.js";
import { onSignOut } from "../core/session.js";

const isOpen = signal(false);
onSignOut(() => { isOpen.value = false; });
export const openHelp = () => { isOpen.value = true; };

/** @type {Record<string, string>} */
const SHOWN = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", " ": "space", Escape: "Esc" };

export function Help() {
  return isOpen.value ? html`<${Sheet} />` : null;
}

/** @param {{bindings: {current: object}}} part */
const hasKeys = ({ bindings }) => Object.keys(bindings.current).length > 0;

function Sheet() {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    dialog?.scrollTo(0, 0); // the focus is on Close, below
    return () => dialog?.close();
  }, []);
  const close = () => { isOpen.value = false; };
  return html`<dialog ref=${box} class="keys" aria-labelledby="keys" onCancel=${close}>
    <h2 id="keys">Keys</h2>
    <div class="columns">${active.value.filter(hasKeys).map((part) => html`<section key=${part.name}>
      <h3>${part.name}</h3>
      <dl>${Object.entries(part.bindings.current).map(([key, binding]) => html`<div key=${key}>
        <dt>${key.split(" ").map((each) => html`<kbd>${SHOWN[each] ?? (SHOWN[key] ?? each)}</kbd> `)}</dt>
        <dd>${binding.does}</dd>
      </div>`)}</dl>
    </section>`)}</div>
    <div class="row end"><button type="button" class="primary" autofocus onClick=${close}>Close</button></div>
  </dialog>`;
}
