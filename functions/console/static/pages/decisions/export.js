/** Decisions and trails as files, made in the page: honest CSV and JSON. */
import { get } from "../../core/api.js";
import { withPage } from "../../core/live.js";

/** @typedef {"csv" | "json"} Form */
/** @typedef {import("api").TrailVerdict} Verdict */

/** A file has up to so many entries. It says so where there are more. */
export const MOST = 10_000;
/** Of so many tasks the trails are verified for one file, so many at once: each is read whole for it. */
const MOST_VERIFIED = 500;
const AT_ONCE = 4;
const DECISION = ["at", "by", "verb", "detail", "reason", "task_id", "review_id", "seq", "title", "source_agent",
  "target_agent", "priority"];
const ENTRY = ["seq", "at", "type", "principal_kind", "principal", "fence", "data", "prev_hash", "hash", "verified"];

/** One list after the other. @param {string[]} paths @param {(said: string) => void} told
 * @returns {Promise<{items: any[], isWhole: boolean}>} */
async function whole(paths, told) {
  const items = [];
  for (const [number, path] of paths.entries()) {
    let cursor = /** @type {string | null} */ (null);
    do {
      const page = await get(withPage(path, cursor));
      items.push(...page.items);
      cursor = page.next_cursor;
      told(`${items.length.toLocaleString()} read …`);
      if (items.length >= MOST) return { items, isWhole: !cursor && number === paths.length - 1 };
    } while (cursor);
  }
  return { items, isWhole: true };
}

/** @param {Verdict} verdict */
const stateOf = (verdict) => (verdict.intact && verdict.matches_task ? "verified"
  : verdict.broken_at === null ? "differs" : `broken-at-${verdict.broken_at}`);

/** The API's verdict on the trail of each task, a few at once.
 * @param {string[]} ids @param {(id: string) => Promise<Verdict>} verify @param {(said: string) => void} told */
async function verdictsOf(ids, verify, told) {
  const found = /** @type {Map<string, string>} */ (new Map());
  const left = ids.slice(0, MOST_VERIFIED);
  const next = async () => {
    for (let id = left.shift(); id; id = left.shift()) {
      found.set(id, stateOf(await verify(id)));
      told(`${found.size.toLocaleString()} of ${ids.length.toLocaleString()} trails verified …`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return found;
}

/** @param {string} taskId */
async function trailOf(taskId) {
  const items = /** @type {import("api").EventView[]} */ ([]);
  for (;;) {
    const page = /** @type {import("api").Trail} */ (
      await get(`/tasks/${taskId}/events?after=${items.length}&limit=100`));
    items.push(...page.events);
    if (page.events.length < 100) return { items, isWhole: true };
    if (items.length >= MOST) return { items, isWhole: false };
  }
}

/** `verify`: each decision tells whether its task's trail is whole, and the file's name whether all are.
 * @param {{paths: string[], name: string, form: Form, verify: ((id: string) => Promise<Verdict>) | null}} of
 * @param {(said: string) => void} told */
export async function exportDecisions({ paths, name, form, verify }, told) {
  const { items, isWhole } = await whole(paths, told);
  const ids = [...new Set(items.flatMap((each) => each.task_id ?? []))]; // a manual review has no trail
  const verdicts = verify && await verdictsOf(ids, verify, told);
  const trail = (/** @type {string | null} */ id) =>
    verdicts && { trail: id === null ? "no trail" : verdicts.get(id) ?? "not verified" };
  const rows = items.map((each) => ({ ...each, ...trail(each.task_id) }));
  const wrong = ids.filter((id) => verdicts && verdicts.get(id) !== "verified").length;
  const state = !verdicts ? "" : wrong === 0 ? "-verified" : `-${wrong}-not-verified`;
  const file = `${name}${state}${isWhole ? "" : `-first-${items.length}`}.${form}`;
  if (form === "csv") saveCsv(file, verdicts ? [...DECISION, "trail"] : DECISION, rows);
  else saveJson(file, { exported_at: new Date().toISOString(), is_whole: isWhole, decisions: rows });
  return { count: items.length, isWhole, wrong };
}

/** The verification is the API's, of the whole trail; the file's name says it as well.
 * @param {string} taskId @param {Form} form @param {(id: string) => Promise<Verdict>} verify */
export async function exportTrail(taskId, form, verify) {
  const [{ items, isWhole }, verdict] = [await trailOf(taskId), await verify(taskId)];
  const file = `trail-${taskId}-${stateOf(verdict)}${isWhole ? "" : `-first-${items.length}`}.${form}`;
  if (form === "json") {
    const told = { exported_at: new Date().toISOString(), task_id: taskId, is_whole: isWhole, verification: verdict };
    saveJson(file, { ...told, events: items });
    return file;
  }
  const isFine = (/** @type {number} */ seq) => verdict.broken_at === null || seq < verdict.broken_at;
  saveCsv(file, ENTRY, items.map((event) => ({
    ...event, principal_kind: event.principal.kind, principal: event.principal.id, verified: isFine(event.seq),
  })));
  return file;
}

const BOM = "\ufeff"; // a spreadsheet takes it for UTF-8 then
/** What a spreadsheet would run as a formula, tabs and line ends before it included. */
const FORMULA = /^[\s]*[=+\-@\t\r]/;

/** A quote before what looks like a formula keeps it a text. A number stays one. @param {unknown} value */
function cell(value) {
  const text = value === null || value === undefined ? ""
    : typeof value === "object" ? JSON.stringify(value) : String(value);
  const safe = typeof value !== "number" && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** @param {string[]} columns @param {Record<string, any>[]} rows */
function csv(columns, rows) {
  const lines = [columns, ...rows.map((row) => columns.map((name) => row[name]))];
  return `${BOM}${lines.map((line) => line.map(cell).join(",")).join("\r\n")}\r\n`;
}

/** @param {string} name @param {string} text @param {string} type */
function save(name, text, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name.replaceAll(/[^A-Za-z0-9._-]+/g, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** @param {string} name @param {unknown} value */
const saveJson = (name, value) => save(name, `${JSON.stringify(value, null, 2)}\n`, "application/json");

/** @param {string} name @param {string[]} columns @param {Record<string, any>[]} rows */
const saveCsv = (name, columns, rows) => save(name, csv(columns, rows), "text/csv");
