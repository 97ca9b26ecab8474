/** Views of a page that people saved: its filters under a name, for oneself or for the workspace. */
import { html } from "../lib.js";
import { change, Problem } from "../core/api.js";
import { lookAgain, useLive } from "../core/live.js";
import { address } from "../core/router.js";
import { local } from "../core/storage.js";
import { toast } from "../core/toasts.js";
import { ask } from "./ask.js";
import { Ago, Said, Views } from "./parts.js";

/** @typedef {import("api").ViewOfPage} Saved */
/** @typedef {{name: string, query: Record<string, string>}} BuiltIn */

/** Where views were, before they were kept by the API. */
const BEFORE = "baton.views";
/** What an address says of the moment, not of the view. */
const PASSING = ["task", "question", "of"];

/** @param {{page: string, label?: string, query: Record<string, string>, of: BuiltIn[]}} props */
export function SavedViews({ page, label = "Views", query, of }) {
  const { data } = useLive("/views", { everyMs: 60_000 });
  const saved = /** @type {Saved[]} */ (data?.items ?? []).filter((view) => view.page === page);
  const kept = Object.fromEntries(Object.entries(query).filter(([name, value]) => value && !PASSING.includes(name)));
  const here = keyOf(kept);
  const chosen = saved.find((view) => keyOf(view.query) === here);
  const views = [
    ...of.map((view) => ({ name: view.name, href: address(page, view.query), isChosen: keyOf(view.query) === here })),
    ...saved.map((view) => ({
      name: html`<${Said} of=${view.title} />`, says: view.title,
      key: `${view.scope} ${view.name}`, href: address(page, view.query), isChosen: view === chosen,
      also: html`<button type="button" class="quiet" aria-label=${`Delete the view ${view.title}`}
        onClick=${() => drop(view)}>✕</button>`,
    })),
  ];
  const before = page === "/tasks" ? ofThisBrowser() : [];
  return html`<${Views} label=${label} of=${views}>
      ${!views.some((view) => view.isChosen) && data && html`<button type="button" class="quiet"
        onClick=${() => save(page, kept, saved)}>
        + Save this view
      </button>`}
      ${before.length > 0 && data && html`<button type="button" class="quiet" onClick=${() => move(before, saved)}>
        Keep the ${before.length} of this browser for me
      </button>`}
    <//>
    ${chosen && html`<p class="faint whose">
      ${chosen.scope === "workspace" ? "Everybody's" : "Your"} view, saved by${" "}
      <${Said} of=${chosen.updated_by} /> <${Ago} at=${chosen.updated_at} />.
    </p>`}`;
}

/** @param {Record<string, string>} query */
const keyOf = (query) => JSON.stringify(Object.entries(query).sort());

/** @param {string} title */
function slugOf(title) {
  const inLetters = title.toLowerCase().normalize("NFKD").replace(/[^a-z0-9]+/g, "-");
  const inNumbers = [...title].map((each) => (each.codePointAt(0) ?? 0).toString(16)).join("-");
  const text = /[a-z0-9]/.test(inLetters) ? inLetters : `view-${inNumbers}`;
  return text.slice(0, 60).replace(/^-+|-+$/g, "");
}

/** @param {string} page @param {Record<string, string>} query @param {Saved[]} saved */
function save(page, query, saved) {
  ask({
    title: "Save this view",
    text: "Its filters and its order, under a name. One of the same name is replaced.",
    fields: [
      { name: "name", label: "Name", required: true },
      { name: "scope", label: "For", type: "radio", required: true, value: "mine",
        options: [["mine", "me"], ["workspace", "everybody in the workspace"]] },
    ],
    confirm: "Save",
    run: async ({ name = "", scope = "mine" }) => {
      const before = saved.find((view) => view.scope === scope && view.name === slugOf(name));
      await keep({ title: name.trim(), scope, page, query, version: before?.version ?? 0 });
      toast(scope === "mine" ? "Saved for you" : "Saved for everybody");
    },
  });
}

/** @param {{title: string, scope: string, page: string, query: Record<string, string>, version: number}} view */
async function keep(view) {
  await change("PUT", `/views/${slugOf(view.title)}`, view);
  lookAgain();
}

/** @param {Saved} view */
function drop(view) {
  ask({
    title: "Delete this view",
    text: html`<p>
      <${Said} of=${view.title} />, which ${view.scope === "workspace" ? "everybody" : "only you"} can see.
      Saved by <${Said} of=${view.updated_by} />, <${Ago} at=${view.updated_at} />.
    </p>`,
    confirm: "Delete",
    danger: true,
    run: async () => {
      await change("DELETE", `/views/${view.name}?scope=${view.scope}&version=${view.version}`);
      toast("Deleted");
      lookAgain();
    },
  });
}

/** @returns {BuiltIn[]} */
function ofThisBrowser() {
  try {
    const found = JSON.parse(local.getItem(BEFORE) ?? "[]");
    const isView = (/** @type {any} */ each) => typeof each?.name === "string" && typeof each.query === "object";
    return Array.isArray(found) ? found.filter(isView) : [];
  } catch {
    return [];
  }
}

/** One that is there already stays as it is. @param {BuiltIn[]} before @param {Saved[]} saved */
function move(before, saved) {
  ask({
    title: "Keep them for you",
    text: html`<p>So far they are in this browser, for whoever uses it:</p>
      <ul>${before.map((view) => html`<li key=${view.name}><${Said} of=${view.name} /></li>`)}</ul>
      <p>They are saved as yours, and leave the browser.</p>`,
    confirm: "Keep them",
    run: async () => {
      for (const { name, query } of before) {
        const isThere = saved.some((view) => view.scope === "mine" && view.name === slugOf(name));
        if (!isThere) await keepOnce({ title: name.slice(0, 60), scope: "mine", page: "/tasks", query, version: 0 });
      }
      local.removeItem(BEFORE);
      toast("They are yours now, wherever you sign in");
    },
  });
}

/** @param {Parameters<typeof keep>[0]} view */
async function keepOnce(view) {
  try {
    await keep(view);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "version_conflict") throw error;
  }
}
