/** The palette: what one looks for, or wants to do, by a few letters. `Ctrl+K` opens it on every page. */
import { html, signal, useEffect, useRef, useState } from "../lib.js";
import { pause } from "../core/api.js";
import { useLive } from "../core/live.js";
import { go } from "../core/router.js";
import { frontier, searchPath, useSearch } from "../core/search.js";
import { isSignedIn, onSignOut } from "../core/session.js";
import { actions, idFirst, pagesNamed, peopleAndThings } from "./palette/choices.js";
import { Key, Trouble } from "./parts.js";

/** `run` returns where it leads to, or nothing. `isLast`: it is run once the palette is gone. `shown`: what a line says
 * of it.
 * @typedef {{id: string, group: string, shown: any, run: () => unknown, isLast?: boolean}} Choice */

/** Requests wait until so long nothing was typed. */
const TYPED_MS = 180;
const SELDOM = { everyMs: 60_000 };
const isOpen = signal(false);
onSignOut(() => { isOpen.value = false; });
export const openPalette = () => { isOpen.value = isSignedIn.value; };

addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  if (!isSignedIn.value) return;
  event.preventDefault();
  if (isOpen.value) isOpen.value = false;
  else if (!document.querySelector("dialog[open]")) openPalette();
});

export function Palette() {
  return isOpen.value ? html`<${Sheet} />` : null;
}

/** What opens it, for whoever doesn't know the key. */
export function FindButton() {
  return html`<button type="button" class="quiet find-open" onClick=${openPalette} aria-haspopup="dialog">
    Find <span class="long"><${Key}>Ctrl<//> <${Key}>K<//></span>
  </button>`;
}

/** A text once nobody types any more. @param {string} text */
function useSettled(text) {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

function Sheet() {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [trouble, setTrouble] = useState(/** @type {unknown} */ (null));
  const words = useSettled(text).trim();
  const isAsked = words.length > 1 && idFirst(words).length === 0;
  const search = useSearch(isAsked ? searchPath({ q: words }) : null);
  const recall = `/recall?${new URLSearchParams({ q: words, limit: "5" })}`;
  const memory = useLive(isAsked ? recall : null, SELDOM);
  const agents = useLive("/agents?limit=100", SELDOM);
  const talks = useLive(isAsked ? "/conversations?limit=50" : null, SELDOM);
  const others = { agents: agents.data, talks: talks.data, memory: memory.data };
  const choices = /** @type {Choice[]} */ ([
    ...idFirst(text), ...pagesNamed(text), ...actions(text), ...peopleAndThings(text, words, search, others),
  ]);
  const chosen = Math.min(at, choices.length - 1);
  const close = () => { isOpen.value = false; };

  const run = async (/** @type {Choice | undefined} */ choice) => {
    if (!choice) return;
    setTrouble(null);
    try {
      if (choice.isLast) {
        close();
        await pause(0); // what it does finds the page as it was
      }
      const place = await choice.run();
      if (typeof place === "string") {
        close();
        go(place);
      }
    } catch (error) {
      setTrouble(error);
    }
  };
  const press = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setAt((chosen + step + choices.length) % Math.max(1, choices.length));
    else if (event.key === "Enter" && !event.isComposing && !event.repeat) void run(choices[chosen]);
    else return;
    event.preventDefault();
  };
  const type = (/** @type {Event & {currentTarget: HTMLInputElement}} */ event) => {
    setText(event.currentTarget.value);
    setAt(0);
    setTrouble(null);
  };
  return html`<${Frame} onClose=${close}>
    <input type="text" inputmode="search" role="combobox" aria-expanded="true" aria-controls="found"
      aria-autocomplete="list" aria-activedescendant=${choices.length > 0 ? `found-${chosen}` : undefined}
      aria-label="Find" autofocus value=${text}
      placeholder="Words, an id, an agent, a page, an action" spellcheck=${false} autocomplete="off" maxlength="200"
      onInput=${type} onKeyDown=${press} />
    <${Trouble} of=${trouble} what="It can't be opened." />
    <${Choices} of=${choices} chosen=${chosen} onChoose=${setAt} onRun=${run} onEnd=${search.goOn} />
    <p class="faint" role="status">${said(text, choices, search)}</p>
  <//>`;
}

/** @param {string} text @param {Choice[]} choices @param {import("../core/search.js").Found} search */
function said(text, choices, search) {
  if (text.trim() === "") return "Arrows choose, Enter opens, Escape leaves.";
  const tasks = frontier(search);
  return `${choices.length === 0 ? "Nothing yet. " : ""}${tasks && `Tasks: ${tasks.replace(/^S/, "s")}`}`;
}

/** A dialog gives the focus back to what had it. @param {{onClose: () => void, children?: any}} props */
function Frame({ onClose, children }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const dialog = box.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const leave = (/** @type {Event} */ event) => { if (event.target === box.current) onClose(); };
  return html`<dialog ref=${box} class="palette" aria-label="Find" onCancel=${onClose} onClick=${leave}>
    <div>${children}</div>
  </dialog>`;
}

/** @param {{of: Choice[], chosen: number, onChoose: (at: number) => void, onRun: (choice: Choice) => void,
 *   onEnd: () => void}} props */
function Choices({ of, chosen, onChoose, onRun, onEnd }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    box.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const scroll = (/** @type {Event & {currentTarget: HTMLElement}} */ { currentTarget: list }) => {
    if (list.scrollTop + list.clientHeight > list.scrollHeight - 20) onEnd();
  };
  const groups = [...new Set(of.map((choice) => choice.group))];
  return html`<div id="found" role="listbox" aria-label="What is found" ref=${box} onScroll=${scroll}>
    ${groups.map((group) => html`<div key=${group} role="group" aria-label=${group}>
      <div class="of" aria-hidden="true">${group}</div>
      ${of.map((choice, index) => choice.group === group && html`<div key=${choice.id} id=${`found-${index}`}
        role="option" aria-selected=${index === chosen ? "true" : "false"} onClick=${() => onRun(choice)}
        onPointerMove=${() => { if (index !== chosen) onChoose(index); }}>
        ${choice.shown}
      </div>`)}
    </div>`)}
  </div>`;
}
