/** What waits, whole: the text, the context, the criteria and the budget that an approval would let through. */
import { html, Fragment, useEffect, useState } from "../../lib.js";
import { useLive } from "../../core/live.js";
import { address } from "../../core/router.js";
import { Around, Asker, Glance, titleOf, useEvidence } from "../../ui/evidence.js";
import { Ago, Facts, Flags, Id, Key, Loading, Said, Trouble, Way } from "../../ui/parts.js";
import { Asked } from "../task/asked.js";
import { approverFacts, Rule } from "../questions/approvers.js";
import { LateResults } from "../task/past.js";
import { isMine } from "../questions/mine.js";
import { Held, isHeld } from "./held.js";
import { Marks } from "./marks.js";
import { useFrozen } from "./reading.js";

/** @typedef {import("api").ListedTask} ListedTask */
/** @typedef {import("api").HandoffView} HandoffView */
/** @typedef {Record<"approve" | "next" | "defer" | "dismiss" | "split", () => void>} Acts */
/** What of a task is on the screen, null while it isn't whole: a decision is for this.
 * @typedef {(ids: string[], shown: HandoffView | null) => void} OnShown */

/** @type {Record<string, [string, string]>} */
const ONE = {
  approve: ["Approve", "a"], next: ["Next", "n"], defer: ["Defer", "d"], split: ["Split", "s"],
  dismiss: ["Dismiss", "x"],
};
/** Of ready work that rules hold back from an agent. @type {Record<string, [string, string]>} */
const READY = { approve: ["Approve", "a"] };
/** Of a task that the reader has approved: dismissing it is the only other decision.
 * @type {Record<string, [string, string]>} */
const MINE = { approve: ["Change your decision", "x"], defer: ["Defer", "d"], split: ["Split", "s"] };

/** One task. @param {{task: ListedTask, acts: Acts, isLive: boolean, onShown: OnShown, onBack: () => void}} props */
export function Whole({ task, acts, isLive, onShown, onBack }) {
  const evidence = useEvidence(task);
  const [handoff, setHandoff] = useState(/** @type {HandoffView | null} */ (null));
  const tell = (/** @type {string[]} */ ids, /** @type {HandoffView | null} */ shown) => {
    setHandoff(shown);
    onShown(ids, shown);
  };
  return html`<article>
    <div class="row narrow-only"><button type="button" onClick=${onBack}>← Back to the list</button></div>
    <${Direction} task=${task} />
    ${isHeld(task)
      ? html`<${Decide} acts=${READY} run=${acts} isLive=${isLive && !isMine(task)} /><${Held} of=${task} />`
      : html`<${Decide} acts=${isMine(task) ? MINE : ONE} isLive=${isLive}
          run=${isMine(task) ? { ...acts, approve: acts.dismiss } : acts} /><${Rule} of=${task.approval} />`}
    ${handoff && html`<${Marks} task=${task} handoff=${handoff} ids=${[task.id]} />`}
    <${Title} of=${titleOf(task, handoff)} />
    <${Glance} task=${task} of=${evidence} />
    ${task.version > 1 && html`<${TakenBack} task=${task} />`}
    <${Content} task=${task} ids=${[task.id]} title=${titleOf(task, handoff)} chain=${evidence.chain} onShown=${tell} />
    ${task.version > 1 && html`<${LateResults} task=${task} />`}
    <${Around} task=${task} of=${evidence} />
    <${Facts} of=${[
      ["Revision", html`<${Fragment}>${task.revision} <span class="faint">your approval is for this one</span><//>`],
      ...(task.approval ? approverFacts(task.approval) : []),
      ["Priority", task.priority],
      ["Effort", task.effort],
      ["Due", task.due_date],
      ["Deadline", task.deadline && html`<${Ago} at=${task.deadline} />`],
      ["Task", html`<${Id} of=${task.id} />`],
    ]} />
  </article>`;
}

/** Several, one below the other. What says the same stands there once. `most`: so many different ones are decided on
 * at once. @param {{tasks: ListedTask[], most: number, acts: Acts, isLive: boolean, onShown: OnShown,
 *   onBack: () => void, children: any}} props */
export function Many({ tasks, most, acts, isLive, onShown, onBack, children }) {
  const same = sameOf(tasks);
  return html`<article>
    <div class="row narrow-only"><button type="button" onClick=${onBack}>← Back to the list</button></div>
    <header><h2 class="title">${tasks.length} marked</h2></header>
    <${Decide} acts=${{
      approve: ["Approve all", "a"], next: ["Next", "n"], defer: ["Defer", "d"], dismiss: ["Dismiss", "x"],
    }} run=${acts} isLive=${isLive} />
    ${children}
    ${same.length > most
      ? html`<p class="notice">These are ${same.length} different ones. At most ${most} are decided on at once: what is
          decided on is on the screen.</p>`
      : same.map((group) => html`<section class="same" data-tasks=${group.map((task) => task.id).join(" ")}
          key=${group.map((task) => task.id).join(" ")}>
          <${Same} group=${group} onShown=${onShown} />
        </section>`)}
  </article>`;
}

/** @param {{group: ListedTask[], onShown: OnShown}} props */
function Same({ group, onShown }) {
  const [task, ids] = [/** @type {ListedTask} */ (group[0]), group.map((each) => each.id)];
  const [handoff, setHandoff] = useState(/** @type {HandoffView | null} */ (null));
  const tell = (/** @type {string[]} */ of, /** @type {HandoffView | null} */ shown) => {
    setHandoff(shown);
    onShown(of, shown);
  };
  return html`
    ${handoff && html`<${Marks} task=${task} handoff=${handoff} ids=${ids} />`}
    ${group.map((each) => html`<${Head} key=${each.id} task=${each} />
      <p class="glance"><${Asker} of=${each} /></p>
      ${each.version > 1 && html`<${TakenBack} task=${each} />`}`)}
    <${Content} task=${task} ids=${ids} onShown=${tell} />`;
}

/** Tasks that say the same, together: their digests are those of all that they say. @param {ListedTask[]} tasks */
function sameOf(tasks) {
  /** @type {Map<string, ListedTask[]>} */
  const found = new Map();
  for (const task of tasks) found.set(task.digest ?? task.id, [...found.get(task.digest ?? task.id) ?? [], task]);
  return [...found.values()];
}

/** @param {{task: ListedTask}} props */
const Head = ({ task }) => html`<${Direction} task=${task} /><${Title} of=${task.title} />`;

/** @param {{task: ListedTask}} props */
const Direction = ({ task }) => html`<header><p>
  <${Way} from=${task.source_agent} to=${task.target_agent} />${" "}
  <span class="faint">${task.kind} · ${task.priority} · <${Ago} at=${task.created_at} /></span>${" "}
  <${Flags} of=${task.flags} />
</p></header>`;

/** @param {{of: string}} props */
const Title = ({ of }) => html`<h2 class="title theirs-line"><${Said} of=${of} /></h2>`;

const PAGE = 100;

/** An approval that no longer holds: whoever gave it hasn't seen what its agent is by now.
 * @param {{task: ListedTask}} props */
function TakenBack({ task }) {
  const path = `/tasks/${task.id}/events?limit=${PAGE}&after=`;
  const latest = useLive(`${path}${Math.max(0, task.version - PAGE)}`, { everyMs: 30_000, when: task.version });
  // A heartbeat raises the version, and leaves no entry: then the trail is shorter.
  const isBeyond = latest.data !== null && task.version > PAGE && latest.data.events.length < 2;
  const first = useLive(isBeyond ? `${path}0` : null, { everyMs: 30_000, when: task.version });
  const trail = /** @type {import("api").Trail | null} */ (isBeyond ? first.data : latest.data);
  const [approved, undone] = (trail?.events ?? [])
    .filter((each) => each.type === "approved" || each.type === "approval_undone").slice(-2);
  if (!approved || undone?.data.reason !== "agent_changed") return null;
  const { changed_by: by, agent, fields } = /** @type {any} */ (undone.data);
  return html`<p class="notice" role="note">
    It was approved by <${Said} of=${approved.principal.id} />, <${Ago} at=${approved.at} />.
    Since then <${Said} of=${by} /> changed <a href=${address(`/agents/${agent}`)}><${Said} of=${agent} /></a>:${" "}
    <${Said} of=${fields.join(", ")} />.
  </p>`;
}

/** @param {{acts: Record<string, [string, string]>, run: Acts, isLive: boolean}} props */
function Decide({ acts, run, isLive }) {
  return html`<div class="row acts" role="group" aria-label="Decide">
    ${Object.entries(acts).map(([name, [says, key]]) => html`<button key=${name} type="button" disabled=${!isLive}
      class=${name === "approve" ? "primary" : name === "dismiss" ? "danger" : ""}
      title=${name === "next" ? "Approved, but never dispatched: a worker claims it by its id" : undefined}
      onClick=${run[/** @type {keyof Acts} */ (name)]}>${says} <${Key}>${key}<//></button>`)}
  </div>`;
}

/** Without what only says which revision it is, and how it goes. @param {HandoffView} handoff */
const askedOf = ({ revision: _, digest: __, status: ___, state: ____, ...asked }) => asked;

/** A handoff's request, as it was first shown. `title`: the heading above it.
 * @param {{task: ListedTask, ids: string[], onShown: OnShown, title?: string,
 *   chain?: import("api").ChainView | null}} props */
export function Content({ task, ids, onShown, title = task.title, chain = null }) {
  const { data, problem } = useLive(`/handoffs/${task.handoff_id}`,
    { everyMs: 10_000, when: `${task.revision} ${task.digest}` });
  const now = /** @type {HandoffView | null} */ (data);
  const { seen, isChanged, told } = useFrozen(now, ({ revision, digest }) => `${revision} ${digest}`, askedOf);
  const isOfList = (task.digest ?? null) === (seen?.digest ?? null); // otherwise the title above may be another one's
  const shown = isChanged || problem || !isOfList ? null : seen;
  useEffect(() => {
    onShown(ids, shown);
    return () => onShown(ids, null);
  }, [ids.join(" "), shown]);
  return html`<div>
    <${Trouble} of=${problem} what="The handoff can't be read, so nothing is decided here." />
    ${told}
    ${seen ? html`<${Asked} handoff=${seen} title=${title} chain=${chain} isWhole />`
      : !problem && html`<${Loading} />`}
  </div>`;
}
