/** One question, whole: what exactly would be allowed, why, who asks, who may say so and who has. */
import { html, Fragment, useEffect, useState } from "../../lib.js";
import { useLive } from "../../core/live.js";
import { address } from "../../core/router.js";
import { who } from "../../core/session.js";
import { exact } from "../../core/time.js";
import { textsOf } from "../../core/warnings.js";
import { OfTask } from "../../ui/evidence.js";
import { SaidBefore } from "../../ui/evidence/before.js";
import { Ago, Facts, Id, Left, Loading, Said, Trouble } from "../../ui/parts.js";
import { Text } from "../../ui/text.js";
import { pathOf, revoke } from "./acts.js";
import { approverFacts, useWhyNot } from "./approvers.js";
import { Decide, Look, Needed, Notes } from "./decide.js";
import { Changes, changesOf } from "../../ui/changed.js";
import { asksFor } from "./form.js";
import { Kind } from "./list.js";

/** @typedef {import("./list.js").Question} Question */
/** `seen`: what is whole on the screen, and open. `why`: the reader may not decide on it.
 * @typedef {{seen: Question, why: string}} Shown */
/** @typedef {"approve" | "reply" | "change" | "standing" | "refuse"} Act */

/** No ring tells that its time is over. @param {Question} of */
const isAlmostOver = (of) => of.outcome === "open" && Date.parse(of.until) < Date.now() + 60_000;

/** What a person decides on: what of a question may not change under their eyes. @param {Question} of */
const asked = (of) =>
  JSON.stringify([of.kind, of.text, of.tool, of.arguments, of.digest, of.options, of.form, of.handoff]);

/** @param {{at: {id: string, task_id: string}, shown: Shown | null, onShown: (shown: Shown | null) => void,
 *   run: (act: Act, proposed?: unknown) => void, onBack: () => void}} props */
export function Whole({ at, shown, onShown, run, onBack }) {
  const { data, problem } = useLive(pathOf(at), { everyMs: 5000, isUntold: isAlmostOver });
  const now = /** @type {Question | null} */ (data);
  const [first, setFirst] = useState(/** @type {Question | null} */ (null));
  const why = useWhyNot(now);
  if (now && !first) setFirst(now);
  const isChanged = Boolean(first && now && asked(first) !== asked(now));
  const isOfTask = Boolean(now?.handoff && now.handoff.message === undefined); // an earlier release left out the texts
  const task = useLive(now && isOfTask ? `/tasks/${now.task_id}` : null);
  const live = now?.outcome === "open" && !isChanged && !problem && (!isOfTask || task.data) ? now : null;
  useEffect(() => {
    onShown(live && { seen: live, why });
    return () => onShown(null);
  }, [live, why]);
  return html`<article>
    <div class="row narrow-only"><button type="button" onClick=${onBack}>← Back to the list</button></div>
    <${Trouble} of=${problem} what="The question can't be read, so nothing is decided here." />
    ${now && first && html`<header>
        <p>
          <${Kind} of=${now} /> <${Said} of=${now.agent} /> asks${" "}
          <span class="faint">· <${Ago} at=${now.asked_at} /></span>
        </p>
        <h2 class="title">${now.kind === "action" ? "May it do this?" : "What does it ask?"}</h2>
      </header>
      ${now.outcome === "open"
        ? html`<${Needed} of=${now} /><${Decide} of=${now} isLive=${shown !== null && why === ""} run=${run} />`
    : html`<${Closed} of=${now} />`}
      ${now.outcome === "open" && html`<${Notes} why=${why} isHopeless=${now.answerable === false} />`}
      ${isChanged && html`<p class="notice" role="alert">
        It was changed while you read it.${" "}
        <button type="button" onClick=${() => setFirst(now)}>Read it as it is now</button>
      </p>`}
      ${now.outcome === "open" && html`<${Look} of=${first} />`}
      <${Asks} of=${first} task=${task} />
      <${Decisions} of=${now} propose=${shown && !why ? (/** @type {unknown} */ its) => run("change", its) : null} />
      <${About} of=${now} />
      <${OfTask} id=${now.task_id} />`}
    ${!now && !problem && html`<${Loading} />`}
  </article>`;
}

/** @type {Record<string, string>} */
const ENDS = {
  approved: "It was approved.",
  answered: "It was answered.",
  refused: "It was refused.",
  revoked: "It was approved, and revoked.",
  expired: "Its time is over, and too few have decided: that is neither a yes nor a no.",
  withdrawn: "It was withdrawn: its task has ended, or goes on without it.",
};

/** @param {{of: Question}} props */
export function Closed({ of }) {
  const isUnused = of.outcome === "approved" && !of.used_at;
  const isOver = Date.parse(of.until) <= Date.now();
  return html`<p class="notice" role="status">
    ${ENDS[of.outcome] ?? html`It is <${Said} of=${of.outcome} />.`}
    ${of.used_at && html` It was begun <${Ago} at=${of.used_at} />.`}
    ${isUnused && (isOver ? " It wasn't begun in time, and can't be any more." : html` It wasn't begun yet.${" "}
      <button type="button" class="danger" onClick=${() => revoke(of)}>Revoke</button>`)}
  </p>`;
}

/** What is asked: all of it, as text. @param {{of: Question, task: {data: unknown, problem: unknown}}} props */
function Asks({ of, task }) {
  return html`<div class="asked whole">
    ${of.tool && html`<h3>Tool</h3>
      <p><code class="theirs"><${Said} of=${of.tool} /></code></p>
      <h3>Arguments</h3>
      <${Whatever} of=${of.arguments ?? {}} title="Arguments" />
      ${of.before !== undefined && html`<h3>Since the last approval</h3>
        <${Before} before=${of.before} now=${of.arguments} />`}`}
    ${of.handoff && html`<${HandedOver} of=${of.handoff} task=${task.data} problem=${task.problem} />`}
    <h3>${of.tool ? "Why" : "Question"}</h3>
    <${Text} of=${of.text} title="What it asks" isWhole />
    ${of.options.length > 0 && html`<h3>Options</h3>
      <ul>${of.options.map((each) => html`<li><${Said} of=${each} /></li>`)}</ul>`}
    ${of.form && html`<h3>Form</h3>${asksFor(of.form)}`}
  </div>`;
}

/** What the target of a handoff tool gets besides the arguments.
 * @param {{of: NonNullable<Question["handoff"]>, task: any, problem: unknown}} props */
function HandedOver({ of, task, problem }) {
  const { input, context } = task ?? {};
  const texts = of.message === undefined ? { ...input, ...(context && { context }) } : textsOf(of);
  return html`<h3>Handed over</h3>
    <p><${Said} of=${of.target_agent} /> also gets these texts:</p>
    <${Trouble} of=${problem} what="They can't be read." />
    ${Object.entries(texts).map(([name, value]) => html`<section key=${name}>
      <h4><${Said} of=${name} /></h4><${Text} of=${value} title=${name} isCode=${typeof value !== "string"} isWhole />
    </section>`)}
    <${SaidBefore} of=${of.earlier} conversation=${of.conversation_id} to=${of.target_agent} />`;
}

/** @param {{of: unknown, title: string}} props */
const Whatever = ({ of, title }) => html`<${Text} of=${of} title=${title} isCode isWhole />`;

/** @param {{before: import("api").BeforeView | null, now: unknown}} props */
function Before({ before, now }) {
  if (!before) return html`<p>This tool wasn't approved for this agent before.</p>`;
  const isSame = changesOf(before.arguments, now).length === 0;
  return html`<p>
      ${isSame ? "The same" : "Other"} arguments were approved by${" "}
      <${Said} of=${before.by.join(", ")} />, <${Ago} at=${before.at} />,${" "}
      for <a href=${address(`/tasks/${before.task_id}`)}>this task</a>.
    </p>
    ${!isSame && html`<${Changes} was=${before.arguments} is=${now} />`}`;
}

/** `propose`: approves what another person has approved.
 * @param {{of: Question, propose: ((proposed: unknown) => void) | null}} props */
export function Decisions({ of, propose }) {
  if (of.decisions.length === 0) return null;
  return html`<h3>Decided so far</h3>
    <ul class="log">${of.decisions.map((each) => html`<li key=${each.by + each.at}>
      <p>
        <strong><${Said} of=${each.by} /></strong>${each.by === who.value && " (you)"} ${each.outcome}
        ${each.standing_answer && ", by a standing answer"}
        ${each.arguments && " with other arguments"}${" "}
        · <${Ago} at=${each.at} />
      </p>
      ${each.reason && html`<${Said} of=${each.reason} block />`}
      ${typeof each.answer === "string" ? html`<${Said} of=${each.answer} block />`
    : each.answer !== null && html`<${Whatever} of=${each.answer} title="Answer" />`}
      ${each.arguments && html`<${Whatever} of=${each.arguments} title="Arguments that were approved" />
        <p class="faint">Compared with what it asks for:</p>
        <${Changes} was=${of.arguments} is=${each.arguments} />
        ${propose && each.by !== who.value && html`<button type="button" onClick=${() => propose(each.arguments)}>
          Approve these arguments, too
        </button>`}`}
    </li>`)}</ul>`;
}

/** @param {{of: Question}} props */
function About({ of }) {
  return html`<${Facts} of=${[
    ["Asked by", html`<${Said} of=${of.asked_by} />`],
    ["Agent", html`<a href=${address(`/agents/${of.agent}`)}><${Said} of=${of.agent} /></a>`],
    ["Until", html`<${Fragment}><${Left} at=${of.until} />${" "}
      <span class="faint">${exact(of.until).split("\n")[0]}</span><//>`],
    ...approverFacts(of),
    ["Digest", of.digest && html`<${Id} of=${of.digest} />`],
    ["Question", html`<${Id} of=${of.id} />`],
  ]} />`;
}
