/** Finding: tasks of all days, backwards in time with the frontier said; and what a pasted id names. */
import { useLayoutEffect, useRef, useState } from "../lib.js";
import { get, Problem } from "./api.js";
import { dayAndClock } from "./time.js";

/** @typedef {import("api").ListedTask} ListedTask */
/** `searchedTo`: all that is newer was looked at; null before the first answer. `next`: where it goes on; null once all
 * was looked at.
 * @typedef {{items: ListedTask[], searchedTo: string | null, next: string | null, isSearching: boolean,
 *   problem: Problem | null}} Found */

/** So many requests are made by themselves, and where a person says to go on; fewer once so much is found. */
const REQUESTS = 8;
const REQUESTS_ON = 40;
const ENOUGH = 10;
/** @type {Found} */
const NOTHING = { items: [], searchedTo: null, next: null, isSearching: false, problem: null };

/** @param {Record<string, string | undefined>} asked filters of `GET /tasks/search` */
export function searchPath(asked) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) if (value?.trim()) search.set(name, value.trim());
  return `/tasks/search?${search}`;
}

/** @param {string | null} path of `searchPath`; null: nothing is searched
 * @returns {Found & {goOn: () => void}} */
export function useSearch(path) {
  const [state, setState] = useState({ path: /** @type {string | null} */ (null), found: NOTHING });
  const stop = useRef(new AbortController());
  const found = state.path === path ? state.found : { ...NOTHING, isSearching: path !== null };
  const search = (/** @type {string} */ asked, /** @type {Found} */ from) => {
    void searchOn(asked, from, stop.current.signal, (next) => setState({ path: asked, found: next }));
  };
  useLayoutEffect(() => {
    if (path === null) return undefined;
    stop.current = new AbortController();
    search(path, NOTHING);
    return () => stop.current.abort();
  }, [path]);
  const goOn = () => {
    if (path !== null && !found.isSearching && (found.next || found.problem)) search(path, found);
  };
  return { ...found, goOn };
}

/** @param {string} path @param {Found} from @param {AbortSignal} stop @param {(found: Found) => void} tell */
async function searchOn(path, from, stop, tell) {
  let found = { ...from, isSearching: true, problem: null };
  tell(found);
  for (let left = from.searchedTo === null ? REQUESTS : REQUESTS_ON; found.isSearching && !stop.aborted; left -= 1) {
    try {
      const cursor = found.next ? `&cursor=${encodeURIComponent(found.next)}` : "";
      const page = /** @type {import("api").FoundTaskPage} */ (await get(`${path}&limit=25${cursor}`, stop));
      const items = [...found.items, ...page.items];
      const isEnough = left === 1 || items.length - from.items.length >= ENOUGH;
      const isSearching = page.next_cursor !== null && !isEnough;
      found = { items, searchedTo: page.searched_to, next: page.next_cursor, isSearching, problem: null };
      if (!stop.aborted) tell(found);
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof Problem)) throw error;
      tell({ ...found, isSearching: false, problem: error });
      return;
    }
  }
}

/** How far a search got, as a sentence. @param {Found} found */
export function frontier({ searchedTo, next, isSearching }) {
  if (searchedTo === null) return isSearching ? "Searching …" : "";
  const to = dayAndClock(searchedTo);
  return next === null ? "Searched to the beginning." : `Searched to ${to}${isSearching ? " …" : "."}`;
}

/** An id names a thing by its beginning. `place`: the console's path of it, asked for if the id doesn't tell it.
 * @typedef {{what: string, place: () => string | Promise<string>}} Named */

/** @type {Record<string, (id: string) => Named>} */
const THINGS = {
  task: (id) => ({ what: "the task", place: () => `/tasks/${id}` }),
  ho: (id) => ({ what: "the handoff's task", place: async () => `/tasks/${(await get(`/handoffs/${id}`)).task_id}` }),
  wf: (id) => ({ what: "the conversation, or the workflow's first task", place: () => placeOfWorkflow(id) }),
  chk: (id) => ({ what: "the checkpoint's task", place: () => placeOfCheckpoint(id) }),
  qst: (id) => ({ what: "the question", place: () => `/approvals?question=${id}&of=task_${id.slice(-26)}` }),
  sta: () => ({ what: "the standing answers", place: () => "/standing-answers" }),
  review: (id) => ({ what: "the manual review", place: () => `/reviews/${id}` }),
  alert: (id) => ({ what: "the alert", place: () => placeOfAlert(id) }),
  ent: (id) => ({ what: "the entry of the memory", place: () => `/memory/${id}` }),
};
const ID = new RegExp(String.raw`(?<![A-Za-z0-9])(${Object.keys(THINGS).join("|")})_[A-Za-z0-9]{8,60}(?![A-Za-z0-9_])`);
/** A page of the tracker, as its id is written, or at the end of its address. */
const PAGE = /(?<![0-9a-f])[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}(?![0-9a-f])/i;

/** What a pasted id names, or an address with one in it; null for other texts.
 * @param {string} text @returns {Named | null} */
export function named(text) {
  if (/\s/.test(text.trim())) return null;
  const found = ID.exec(text);
  if (found) return THINGS[found[1] ?? ""]?.(found[0]) ?? null;
  const page = PAGE.exec(text)?.[0];
  return page ? { what: "the page's task", place: () => placeOf(searchPath({ page }), "page") } : null;
}

/** A conversation begins with a person's message. @param {string} id */
async function placeOfWorkflow(id) {
  const chain = /** @type {import("api").ChainView} */ (await get(`/workflows/${id}/chain`));
  const first = /** @type {import("api").WholeTask} */ (await get(`/tasks/${chain.nodes[0]?.task_id ?? ""}`));
  return first.input === null ? `/tasks/${first.id}` : `/chat/${id}`;
}

/** The first checkpoint is named after its task, the latest is one of a task's words. @param {string} id */
async function placeOfCheckpoint(id) {
  try {
    const task = `task_${id.slice("chk_".length)}`;
    await get(`/tasks/${task}`);
    return `/tasks/${task}`;
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 404) throw error;
  }
  return placeOf(searchPath({ q: id }), "checkpoint");
}

/** @param {string} path of a search @param {string} what */
async function placeOf(path, what) {
  for (let next = "", left = REQUESTS_ON; left > 0; left -= 1) {
    const page = /** @type {import("api").FoundTaskPage} */ (await get(`${path}&limit=1${next}`));
    const [task] = page.items;
    if (task) return `/tasks/${task.id}`;
    if (!page.next_cursor) throw new Problem(404, { detail: `There is no such ${what}.` });
    next = `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
  throw new Problem(404, { detail: `No such ${what} was found among the newest tasks.` });
}

/** @param {string} id */
async function placeOfAlert(id) {
  const alert = /** @type {import("api").AlertView} */ (await get(`/alerts/${id}`));
  return alert.task_id ? `/tasks/${alert.task_id}` : "/alerts";
}
