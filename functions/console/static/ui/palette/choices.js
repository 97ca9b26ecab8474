/** What the palette offers for what was typed. */
import { html } from "../../lib.js";
import { active } from "../../core/keys.js";
import { address } from "../../core/router.js";
import { named } from "../../core/search.js";
import { signOut } from "../../core/session.js";
import { nextDensity, nextTheme } from "../../core/theme.js";
import { PAGES } from "../../pages.js";
import { Ago, Key, Said, State } from "../parts.js";

/** @typedef {import("../palette.js").Choice} Choice */
/** @typedef {import("../../core/search.js").Found & {goOn: () => void}} Search */
/** @typedef {{agents: any, talks: any, memory: any}} Others */

const FEW = 5;

/** @param {string} text @returns {Choice[]} */
export function idFirst(text) {
  const thing = named(text);
  return thing ? [{ id: "id", group: "Id", shown: html`Open ${thing.what}`, run: thing.place }] : [];
}

/** @param {string} text @returns {Choice[]} */
export function pagesNamed(text) {
  const pages = PAGES.filter((page) => !page.path.includes(":") && fits(text, page.title));
  return pages.slice(0, text.trim() ? FEW : undefined).map((page) => ({
    id: `page ${page.path}`,
    group: "Pages",
    run: () => page.path,
    shown: html`${page.title}${page.key && html`<${Keys} of=${["g", page.key]} />`}`,
  }));
}

/** What the keys of the page at hand do, and what the frame does. @param {string} text @returns {Choice[]} */
export function actions(text) {
  const bound = active.value.flatMap((part) => Object.entries(part.bindings.current)
    .filter(([key, { repeats }]) => !repeats && !key.startsWith("g ") && !key.startsWith("Ctrl"))
    .map(([key, { does, run }]) => ({ key, does, run: () => run(new KeyboardEvent("keydown", { key })) })));
  const frame = [
    { key: "", does: "other theme: light, dark, as the system", run: nextTheme },
    { key: "", does: "rows closer together, or apart again", run: nextDensity },
    { key: "", does: "sign out", run: signOut },
  ];
  const fitting = [...bound, ...frame].filter(({ does }) => fits(text, does));
  return fitting.slice(0, text.trim() ? FEW : undefined).map(({ key, does, run }) => ({
    id: `do ${key} ${does}`,
    group: "On this page",
    run,
    isLast: true,
    shown: html`${does}${key && html`<${Keys} of=${[key]} />`}`,
  }));
}

/** @param {{of: string[]}} props */
function Keys({ of }) {
  return html`<span class="keys-of">${of.map((key) => html`<${Key}>${key}<//> `)}</span>`;
}

/** @param {string} text as it is typed @param {string} words once nobody types @param {Search} search
 * @param {Others} others @returns {Choice[]} */
export function peopleAndThings(text, words, search, { agents, talks, memory }) {
  if (text.trim() === "") return [];
  const found = words.length > 1;
  const all = address("/search", { q: text.trim() }).slice(1);
  return [
    ...list(agents, (agent) => fits(text, `${agent.slug} ${agent.name ?? ""}`)).map(agentChoice),
    ...search.items.map(taskChoice),
    ...(search.next || search.problem ? [goOn(search)] : []),
    ...list(found ? talks : null, (talk) => fits(text, `${talk.title} ${talk.agent_name ?? ""} ${talk.begun_by}`))
      .map((talk) => titled("Conversations", `/chat/${talk.conversation_id}`, talk.title || talk.conversation_id)),
    ...list(found ? memory : null, () => true)
      .map((entry) => titled("Memory", `/memory/${entry.id}`, entry.summary, entry.entry_type)),
    { id: "all", group: "Further", run: () => all, shown: "All tasks with these words, and filters" },
  ];
}

/** @param {any} agent @returns {Choice} */
function agentChoice(agent) {
  const place = `/agents/${agent.slug}`;
  const shown = html`<${Said} of=${agent.name || agent.slug} /><span class="faint"><${Said} of=${agent.slug} /></span>`;
  return { id: place, group: "Agents", run: () => place, shown };
}

/** @param {import("api").ListedTask} task @returns {Choice} */
function taskChoice(task) {
  const shown = html`<span class="title"><${Said} of=${task.title || task.id} /></span>
    <span class="keys-of">
      <${State} of=${task.state} />${" "}<span class="faint"><${Ago} at=${task.created_at} /></span>
    </span>`;
  return { id: task.id, group: "Tasks", run: () => `/tasks/${task.id}`, shown };
}

/** @param {string} group @param {string} place @param {string} title @param {string} [kind] @returns {Choice} */
function titled(group, place, title, kind = "") {
  const before = kind && html`<span class="faint">${kind}</span>`;
  const shown = html`${before}<span class="title"><${Said} of=${title} /></span>`;
  return { id: place, group, run: () => place, shown };
}

/** @param {Search} search @returns {Choice} */
function goOn(search) {
  const does = search.isSearching ? "Searching on …" : search.problem ? "Try again" : "Older tasks: go on";
  return { id: "on", group: "Tasks", shown: html`<em>${does}</em>`, run: search.goOn };
}

/** @param {{items: any[]} | null} page @param {(item: any) => boolean} takes @returns {any[]} */
const list = (page, takes) => (page?.items ?? []).filter(takes).slice(0, FEW);

/** @param {string} text @param {string} name */
function fits(text, name) {
  const here = name.toLowerCase();
  return text.toLowerCase().split(/\s+/).filter(Boolean).every((word) => here.includes(word));
}
