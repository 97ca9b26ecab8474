/** What to look at twice among what is listed or marked, summed up at the top of the queue. */
import { html, useEffect, useMemo, useRef } from "../../lib.js";
import { useBusy } from "../../core/busy.js";
import { useKeys } from "../../core/keys.js";
import { plain } from "../../core/said.js";
import { failed } from "../../core/toasts.js";
import { mixedWords } from "../../core/warnings/inspection.js";
import { Key } from "../../ui/parts.js";
import { compareAll, COMPARED_AT_ONCE, found, keyOf } from "./marks.js";

/** @typedef {import("api").ListedTask} ListedTask */

/** One and several, by the kind of warning. @type {Record<string, [string, string]>} */
const WORDS = {
  confusable: ["confusable name", "confusable names"],
  hidden: ["with hidden characters", "with hidden characters"],
  alphabets: ["with mixed alphabets", "with mixed alphabets"],
  lookalike: ["look-alike word", "look-alike words"], gap: ["blank gap", "blank gaps"],
  uninspected: ["too long to inspect", "too long to inspect"],
  uncompared: ["too long to compare", "too long to compare"],
  first: ["first of its pair", "first of their pairs"], unlike: ["unlike earlier ones", "unlike earlier ones"],
  address: ["new address", "new addresses"], account: ["new account", "new accounts"],
  path: ["file in a new folder", "files in new folders"], command: ["new command", "new commands"],
  amount: ["unusual amount", "unusual amounts"], mismatch: ["amount unlike the text", "amounts unlike the text"],
  value: ["unusual value", "unusual values"], added: ["new field", "new fields"],
  removed: ["missing field", "missing fields"], asker: ["new requester", "new requesters"],
  revised: ["changed since it arrived", "changed since they arrived"],
};

/** What the list itself tells, before anything is read. @type {WeakMap<ListedTask, string[]>} */
const listed = new WeakMap();

/** @param {ListedTask} task */
function kindsOfListed(task) {
  const texts = [task.title, ...task.labels];
  const kinds = listed.get(task) ?? [
    ...(task.revision > 1 ? ["revised"] : []),
    ...(texts.some((text) => plain(text) !== text) ? ["hidden"] : []),
    ...(texts.some((text) => mixedWords(text).length > 0) ? ["alphabets"] : []),
  ];
  listed.set(task, kinds);
  return kinds;
}

/** Kinds of marks that are known of a task. @param {ListedTask} task @returns {string[]} */
export const oddOf = (task) => [...new Set([...kindsOfListed(task), ...found.value.get(keyOf(task)) ?? []])];

/** `isMarked`: these are those that are marked. `at`: the one that is shown. `open` shows one.
 * @param {{tasks: ListedTask[], isMarked?: boolean, at: string | undefined, open: (task: ListedTask) => void}} props */
export function Sum({ tasks, isMarked = false, at, open }) {
  const [isBusy, busy] = useBusy();
  const isGone = useRef(false);
  useEffect(() => () => { isGone.current = true; }, []);
  const marks = found.value;
  const odd = useMemo(() => tasks.map((task) => ({ task, kinds: oddOf(task) }))
    .filter(({ kinds }) => kinds.length > 0), [tasks, marks]);
  const left = useMemo(() => tasks.filter((task) => !marks.has(keyOf(task))).length, [tasks, marks]);
  const counts = Object.keys(WORDS)
    .map((kind) => ({ kind, of: odd.filter(({ kinds }) => kinds.includes(kind)) }))
    .filter(({ of }) => of.length > 0);
  const next = (/** @type {typeof odd} */ of) => {
    const after = of.findIndex(({ task }) => task.id === at) + 1;
    const to = of[after % of.length] ?? of[0];
    if (to) open(to.task);
  };
  const go = { does: "next one to look at twice", repeats: true, run: () => next(odd) };
  useKeys("Look twice", odd.length > 0 ? { w: go } : {});
  const compare = () => busy(() => compareAll(tasks, () => isGone.current)
    .catch((error) => failed("Not all of them were compared", error)));
  if (tasks.length < 2) return null;
  const looked = (tasks.length - left).toLocaleString();
  const others = left === tasks.length ? "them" : "the others";
  const offer = left > COMPARED_AT_ONCE ? `Compare ${COMPARED_AT_ONCE} more` : `Compare ${others}`;
  return html`<section class="sum" aria-label="What to look at twice">
    <p class="row">
      <span role="status">
        ${looked} of ${tasks.length.toLocaleString()} ${isMarked ? "marked" : "handoffs"} compared.${" "}
        ${odd.length > 0 && html`<strong>Look twice at ${odd.length}:</strong>`}
      </span>
      ${counts.map(({ kind, of }) => html`<button key=${kind} type="button" class="quiet flag"
        onClick=${() => next(of)}>${of.length} ${WORDS[kind]?.[of.length === 1 ? 0 : 1]}</button>`)}
      ${odd.length > 0 && html`<span class="faint"><${Key}>w<//> next</span>`}
      ${left > 0 && !isMarked && html`<button type="button" class="quiet" aria-disabled=${isBusy} onClick=${compare}>
        ${isBusy ? "Comparing …" : offer}</button>`}
    </p>
  </section>`;
}
