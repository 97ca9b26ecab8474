/** One request for each of many, a few at once, and what came of each: in a dialog that stays until it is closed. */
import { html, signal, useEffect, useRef } from "../lib.js";
import { credentials, newKey, Problem } from "../core/api.js";
import { lookAgain } from "../core/live.js";
import { address } from "../core/router.js";
import { onSignOut } from "../core/session.js";
import { advice, isUnknown, UNKNOWN } from "../core/toasts.js";
import { Said } from "./parts.js";

/** `key`: sent again, it is the same request, and done once.
 * @typedef {{id: string, title: string, state: "waits" | "sent" | "done" | "failed" | "left", said?: string,
 *   hint?: string, key: string, send: ((how: {key: string, session: string}) => Promise<unknown>) | null}} Item */
/** @typedef {{number: number, title: string, done: string, items: Item[], session: string}} Batch */

const AT_ONCE = 4;
/** @type {import("../vendor/signals.js").Signal<Batch | null>} */
const shown = signal(null);
let last = 0;

onSignOut(() => {
  const open = (shown.value?.items ?? []).filter((item) => item.state === "waits" || item.state === "sent");
  shown.value = null;
  return open.map(({ state, title }) => (state === "sent" ? `Sent, and not answered: “${title}”. Look how it is.`
    : `Not sent, and as it was: “${title}”.`));
});

/** Sends all of them. `send` null: it isn't for this one, as `said` says.
 * @param {string} title @param {string} done one word, such as "Cancelled"
 * @param {{id: string, title: string, said?: string, send: Item["send"]}[]} of */
export function sendAll(title, done, of) {
  const items = of.map((each) => /** @type {Item} */ ({ ...each, key: newKey(), state: each.send ? "waits" : "left" }));
  shown.value = { number: (last += 1), title, done, items, session: credentials.session() ?? "" };
  void work();
}

/** Says what came of each, where that is known already. @param {string} title @param {string} done
 * @param {{id: string, title: string, error?: unknown}[]} of */
export function tellAll(title, done, of) {
  const items = of.map(({ id, title: name, error }) => /** @type {Item} */ (
    { id, title: name, key: "", send: null, state: "done", ...(error ? refusal(error) : {}) }));
  shown.value = { number: (last += 1), title, done, items, session: "" };
}

/** @param {unknown} error @returns {Pick<Item, "state" | "said" | "hint">} */
function refusal(error) {
  const message = error instanceof Error ? error.message : String(error);
  return { state: "failed", said: isUnknown(error) ? `${UNKNOWN}: ${message}` : message,
    hint: error instanceof Problem ? advice(error) : "" };
}

async function work() {
  const batch = shown.value;
  if (!batch) return;
  const next = async () => {
    const isOurs = shown.value?.number === batch.number;
    const item = isOurs ? shown.value?.items.find((each) => each.state === "waits") : undefined;
    if (!item?.send) return;
    note(item.id, { state: "sent", said: "" });
    try {
      await item.send({ key: item.key, session: batch.session });
      note(item.id, { state: "done" });
    } catch (error) {
      note(item.id, refusal(error));
    }
    await next();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  lookAgain();
}

/** @param {string} id @param {Partial<Item>} now */
function note(id, now) {
  const batch = shown.value;
  const noted = (/** @type {Item} */ item) => (item.id === id ? { ...item, ...now } : item);
  if (batch) shown.value = { ...batch, items: batch.items.map(noted) };
}

/** @param {Item} item */
const isRepeatable = (item) => item.state === "failed" && item.send !== null;

function again() {
  const batch = shown.value;
  if (!batch) return;
  const reset = (/** @type {Item} */ item) => /** @type {Item} */ (
    isRepeatable(item) ? { ...item, state: "waits" } : item);
  shown.value = { ...batch, items: batch.items.map(reset) };
  void work();
}

export function Batches() {
  return shown.value && html`<${Results} of=${shown.value} />`;
}

/** @param {{of: Batch}} props */
function Results({ of }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const count = (/** @type {Item["state"]} */ state) => of.items.filter((item) => item.state === state).length;
  const open = count("waits") + count("sent");
  const [done, failed, left] = [count("done"), count("failed"), count("left")];
  const close = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (open === 0) shown.value = null;
  };
  const kept = left > 0 && `${left} left as they are`;
  const parts = [`${done} ${of.done.toLowerCase()}`, failed > 0 && `${failed} not`, kept];
  const said = open > 0 ? `${of.items.length - open} of ${of.items.length} …` : parts.filter(Boolean).join(", ");
  return html`<dialog ref=${box} class="batch" aria-labelledby="batch" onCancel=${close}>
    <h2 id="batch">${of.title}</h2>
    <p class="faint" role="status">${said}</p>
    <ul class="log" tabindex="0" aria-label="What came of each">
      ${of.items.map((item) => html`<li key=${item.id} class=${item.state}>
        <${Outcome} of=${item} done=${of.done} />${" "}
        <a href=${address(`/tasks/${item.id}`)}><${Said} of=${item.title || item.id} /></a>
        ${item.said && html`<p><${Said} of=${item.said} /> ${item.hint}</p>`}
      </li>`)}
    </ul>
    <div class="row end">
      ${open === 0 && of.items.some(isRepeatable)
        && html`<button type="button" onClick=${again}>Try the ${failed} again</button>`}
      <button type="button" class="primary" autofocus disabled=${open > 0} onClick=${close}>Close</button>
    </div>
  </dialog>`;
}

/** @param {{of: Item, done: string}} props */
function Outcome({ of, done }) {
  const [mark, word, look] = {
    waits: ["·", "waits", ""], sent: ["…", "sent", "claimed"], done: ["✓", done, "done"],
    failed: ["✕", "not done", "failed"], left: ["–", "left as it is", ""],
  }[of.state] ?? [];
  return html`<span class=${`state ${look}`}><span aria-hidden="true">${mark}</span> ${word}</span>`;
}
