/** The questions of agents and the handoffs that wait for a person, the most urgent first, each whole. */
import { html, useEffect, useMemo, useRef, useState } from "../lib.js";
import { useDeferred } from "../core/deferred.js";
import { fits, isFiltered, ordered } from "../core/filters.js";
import { useKeys } from "../core/keys.js";
import { useList } from "../core/live.js";
import { useOlder } from "../core/dear.js";
import { decided } from "../core/pending.js";
import { address, go, place, setQuery } from "../core/router.js";
import { carried, useSelection } from "../core/selection.js";
import { toast } from "../core/toasts.js";
import { MOST } from "../core/waiting.js";
import { Empty, Key, Loading, Trouble } from "../ui/parts.js";
import { SavedViews } from "../ui/saved.js";
import { approve, AT_ONCE, defer, dismiss, next, split } from "./approvals/decisions.js";
import { answers, Controls, grouped, Nothing, Queue, UNFILTERED, VIEWS } from "./approvals/queue.js";
import { isCompared } from "./approvals/marks.js";
import { heldBack, isHeld, useHeld } from "./approvals/held.js";
import { follow, leave, seenOf, useReading, useSight } from "./approvals/reading.js";
import { Sum } from "./approvals/sum.js";
import { Many, Whole } from "./approvals/whole.js";
import { isMine, sunk } from "./questions/mine.js";
import { atQuestion, atTask, decideOn, NOWHERE, Questions, useAsks } from "./questions/list.js";
import { Whole as Question } from "./questions/one.js";

/** @typedef {import("api").ListedTask} ListedTask */
/** @typedef {import("api").HandoffView} HandoffView */
/** @typedef {import("./approvals/decisions.js").Seen} Seen */

const PATH = "/tasks?state=needs"; // the most urgent first; a filter or an order looks at all

/** @param {{query: Record<string, string>}} props */
export default function Approvals({ query }) {
  const { data, problem, isLoading } = useList(PATH, { most: MOST, isFirst: true });
  const isAsked = isFiltered(query) || Boolean(query.sort);
  const { items, isWhole, isReading: isLooking } =
    /** @type {import("../core/dear.js").Older<ListedTask>} */ (useOlder(PATH, data, isAsked));
  const gone = decided.value;
  const { task: _, question: __, of: ___, ...filters } = query;
  const held = useHeld();
  const all = useMemo(() => [...items, ...held].filter((task) => !gone.has(task.id)), [items, held, gone]);
  const { order, groups } = useMemo(() => {
    const fitting = ordered(all.filter((task) => fits(task, filters)), filters.sort || "urgency");
    const listed = sunk(fitting, isMine);
    const found = filters.group ? grouped(listed) : null;
    return { groups: found, order: found ? found.flatMap((group) => group.tasks) : listed };
  }, [all, JSON.stringify(filters)]);
  const selection = useSelection(useMemo(() => order.map((task) => task.id), [order]), carried());
  const [shown, setShown] = useState(/** @type {ReadonlyMap<string, HandoffView>} */ (new Map()));
  const [isReading, setReading] = useState(false);
  const at = query.question ? null : order.find((task) => task.id === query.task) ?? null;
  const marked = order.filter((task) => selection.has(task.id));
  const meant = marked.length ? marked : at ? [at] : [];

  const asks = useAsks(query);
  const question = marked.length === 0 && query.question ? asks.chosen : null;
  const questions = asks.questions.filter((each) => answers(each, query));
  /** Where one may stop: questions, then tasks, in the order of the page. */
  const stopAt = (/** @type {number} */ number) => {
    const [asked, task] = [questions[number], order[number - questions.length]];
    return asked ? atQuestion(asked) : task ? atTask(task.id) : null;
  };
  const ofTask = at ? questions.length + order.indexOf(at) : -1;
  const here = question ? questions.findIndex((each) => each.id === question.id) : ofTask;
  const move = (/** @type {number} */ by) => {
    const to = stopAt(Math.min(questions.length + order.length - 1, Math.max(0, here < 0 ? 0 : here + by)));
    if (to) setQuery(to);
  };
  const show = (/** @type {ListedTask} */ task) => {
    setQuery(atTask(task.id));
    document.querySelector(`.one [data-tasks~="${task.id}"]`)?.scrollIntoView({ block: "start" });
  };
  const onShown = (/** @type {string[]} */ ids, /** @type {HandoffView | null} */ handoff) => setShown((before) => {
    const after = new Map(before);
    for (const id of ids) handoff ? after.set(id, handoff) : after.delete(id);
    return after;
  });
  const isLive = meant.length > 0 && meant.every((task) => shown.has(task.id) && isCompared(task));
  const isSeen = useSight();
  const decide = (/** @type {(tasks: Seen[], then: () => void) => void} */ how) => {
    const ids = new Set(meant.map((task) => task.id));
    if (how !== approve && meant.some(isHeld)) {
      toast("This work is ready: here you can only approve it. Open the task to cancel it.");
      return;
    }
    const isOwn = (how === approve || how === next) && meant.some(isMine);
    if (isOwn) toast("You approved it, and it waits for others. Dismiss it to change your decision.");
    if (isOwn || meant.length === 0 || !isSeen(isLive, how === approve || how === next, [...ids].join(" "))) return;
    const following = order.slice(at ? order.indexOf(at) : 0).find((task) => !ids.has(task.id))
      ?? order.find((task) => !ids.has(task.id));
    how(meant.map((task) => seenOf(task, shown.get(task.id))), () => {
      selection.clear();
      setQuery({ task: following?.id ?? null });
    });
  };
  const acts = {
    approve: () => decide(approve),
    next: () => decide(next),
    defer: () => decide(defer),
    dismiss: () => decide(dismiss),
    split: () => { if (meant.length === 1) decide(([task], then) => split(/** @type {Seen} */ (task), then)); },
  };

  const answer = (/** @type {import("./questions/one.js").Act} */ act, /** @type {unknown} */ proposed = undefined) => {
    const { shown: asked } = asks;
    if (!question) return;
    if (asked?.why) toast(asked.why);
    else if (isSeen(asked?.seen.id === question.id, act !== "refuse", question.id) && asked) {
      const following = stopAt(here + 1) ?? stopAt(here - 1) ?? NOWHERE;
      const isHere = () => place.value.query.question === question.id; // an answer may arrive on another page
      decideOn(asked, act, () => { if (isHere()) setQuery(following); }, proposed);
    }
  };

  useKeys("Approvals", {
    j: { does: "next one", repeats: true, run: () => move(1) },
    k: { does: "one before", repeats: true, run: () => move(-1) },
    a: { does: question ? "approve, or answer" : "approve",
      run: () => (question ? answer("approve") : acts.approve()) },
    e: { does: "approve an action with other arguments", run: () => answer("change") },
    n: { does: "approve for a worker that asks by id (next)", run: acts.next },
    d: { does: "defer", run: acts.defer },
    x: { does: question ? "refuse" : "dismiss", run: () => (question ? answer("refuse") : acts.dismiss()) },
    s: { does: question ? "approve, now and later" : "split",
      run: () => (question ? answer("standing") : acts.split()) },
    m: { does: "mark, to decide on many at once", run: () => { if (at) { selection.toggle(at.id); move(1); } } },
    M: { does: "mark all from the last marked one to here", run: () => { if (at) selection.range(at.id); } },
    o: { does: "open the task", run: () => { if (at || question) go(`/tasks/${at?.id ?? question?.task_id}`); } },
    Escape: { does: order.length > 0 ? "back to the list" : "show all", run: () => {
      if (leave()) return;
      selection.clear();
      setQuery(order.length > 0 ? NOWHERE : { ...NOWHERE, ...UNFILTERED });
    } },
  });
  const one = useRef(/** @type {HTMLElement | null} */ (null));
  useReading(one);
  useEffect(() => {
    one.current?.scrollTo(0, 0); // what is marked about it is at its top
    if (at || question) follow();
  }, [at?.id ?? question?.id]);

  const count = order.length + questions.length;
  const [listed, back] = [order.filter(isHeld).length, all.filter(isHeld).length];
  const isNarrowed = isFiltered(query);
  const isRead = data !== null || !problem;
  const of = isNarrowed ? `${(count - listed).toLocaleString()} of ` : "";
  const said = `${of}${(all.length - back + asks.all).toLocaleString()} waiting${heldBack(back)}`;
  const beyond = isLooking ? ", looking at the others" : !isWhole || asks.more ? " and more" : "";
  const isGone = Boolean(query.task) && data !== null && !question && !at && !gone.has(query.task ?? "")
    && !isNarrowed && !data?.more;
  /** What is chosen is marked in the list at once, and drawn whole in the next frame. */
  const which = [isGone, question?.id, at?.id, ...marked.map((task) => task.id)].join(" ");
  const pane = useRef(/** @type {unknown} */ (null));
  const isBehind = useDeferred(which) !== which;
  if (!isBehind) {
    pane.current = html`
      ${marked.length > 0 ? html`<${Many} tasks=${marked} most=${AT_ONCE} acts=${acts} isLive=${isLive}
          onShown=${onShown} onBack=${() => setReading(false)}>
          <${Sum} tasks=${marked} isMarked at=${at?.id} open=${show} />
        <//>`
        : question ? html`<${Question} key=${question.id} at=${question} shown=${asks.shown} onShown=${asks.setShown}
            run=${answer} onBack=${() => setQuery(NOWHERE)} />`
        : at ? html`<${Whole} key=${at.id} task=${at} acts=${acts} isLive=${isLive} onShown=${onShown}
            onBack=${() => setQuery({ task: null })} />`
        : isGone ? html`<${Empty} title="That task doesn't wait any more">
            <p>Somebody has decided on it, or it was deferred.${" "}
              <a href=${address(`/tasks/${query.task}`)}>See what became of it</a>, or${" "}
              <a href=${address("/approvals")}>what waits</a>.</p>
          <//>`
        : count > 0 && html`<${Empty} title="Choose one to read it whole"><p><${Key}>j<//> and <${Key}>k<//> go through
            the list, <${Key}>a<//> approves, <${Key}>x<//> dismisses. <${Key}>?<//> lists every key.</p><//>`}`;
  }

  if (isLoading) return html`<h1>Approvals</h1><${Loading} />`;
  return html`<div class=${`desk ${(marked.length ? isReading : at || question || isGone) ? "has-one" : ""}`}>
    <section class="pile" aria-label="What waits">
      <div class="head">
        <h1>Approvals</h1>
        <span class="faint" role="status">${isRead && `${said}${beyond}`}</span>
        <a href=${address("/standing-answers")}>Standing answers</a> <a href=${address("/new-handoff")}>New handoff</a>
      </div>
      <${SavedViews} page="/approvals" query=${query} of=${VIEWS} />
      <${Controls} query=${query} tasks=${all} />
      <${Trouble} of=${problem ?? asks.problem} what="The list can't be read." />
      ${marked.length > 0 && html`<div class="row many" role="group" aria-label="Marked">
        <strong>${marked.length} marked</strong>
        <button type="button" class="narrow-only" onClick=${() => setReading(true)}>Read and decide</button>
        <button type="button" onClick=${selection.clear}>Unmark</button>
      </div>`}
      ${marked.length === 0 && html`<${Sum} tasks=${order} at=${at?.id} open=${show} />`}
      <${Questions} of=${questions} at=${question?.id}
        choose=${(/** @type {{id: string, task_id: string}} */ each) => setQuery(atQuestion(each))} />
      <${Queue} order=${order} groups=${groups} at=${at} selection=${selection} />
      ${count === 0 && !problem && html`<${Nothing} isFiltered=${isNarrowed} />`}
    </section>
    <section class="one" aria-label="What would be approved" tabindex="-1" ref=${one}
      aria-busy=${isBehind}>${pane.current}</section>
  </div>`;
}
