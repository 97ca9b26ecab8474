/** One question, whole: what exactly would be allowed, why, who asks, who may say so and who has. */
import { html, Fragment, useEffect, useState } from "../../lib.js";
import { useLive } from "../../core/live.js";
import { address } from "../../core/router.js";
import { who } from "../../core/session.js";
import { exact } from "../../core/time.js";
import { Ago, Facts, Id, Key, Left, Loading, Said, Trouble } from "../../ui/parts.js";
import { pathOf, revoke } from "./acts.js";
import { approverFacts, useWhyNot } from "./approvers.js";
import { Changes, changesOf } from "./changed.js";
import { Asked } from "./form.js";
import { Kind } from "./list.js";

/** @typedef {import("./list.js").Question} Question */
/** `seen`: what is whole on the screen, and open. `why`: the reader may not decide on it. @typedef {{seen: Question, why: string}} Shown */
/** @typedef {"approve" | "reply" | "change" | "standing" | "refuse"} Act */

/** Longer than this it can be folded, and says how long it is. */
const LONG = 20_000;
/** What a person decides on: what of a question may not change under their eyes. @param {Question} of */
const asked = ({ kind, text, tool, arguments: its, digest, options, form }) => JSON.stringify([kind, text, tool, its, digest, options, form]);

/** @param {{at: {id: string, task_id: string}, shown: Shown | null, onShown: (shown: Shown | null) => void, run: (act: Act, proposed?: unknown) => void, onBack: () => void}} props */
export function Whole({ at, shown, onShown, run, onBack }) {
  const { data, problem } = useLive(pathOf(at), { everyMs: 5000 });
  const now = /** @type {Question | null} */ (data);
  const [first, setFirst] = useState(/** @type {Question | null} */ (null));
  if (now && !first) setFirst(now);
  const isChanged = Boolean(first && now && asked(first) !== asked(now));
  const why = useWhyNot(now);
  const live = now?.outcome === "open" && !isChanged && !problem ? now : null;
  useEffect(() => {
    onShown(live && { seen: live, why });
    return () => onShown(null);
  }, [live, why]);
  if (!now || !first) return html`<article><${Back} to=${onBack} /><${Trouble} of=${problem} what="The question can't be read, so nothing is decided here." />${!problem && html`<${Loading} />`}</article>`;
  return html`<article>
    <${Back} to=${onBack} />
    <header><p><${Kind} of=${now} /> <${Said} of=${now.agent} /> asks <span class="faint">· <${Ago} at=${now.asked_at} /></span></p>
      <h2 class="title">${now.kind === "action" ? "May it do this?" : "What does it ask?"}</h2></header>
    ${now.outcome === "open" ? html`<${Decide} of=${now} isLive=${shown !== null && why === ""} run=${run} />
      ${why && html`<p class="notice" role="note">${why}</p>`}
      ${now.answerable === false && html`<p class="notice" role="note">Nobody can decide it as things are: of those who may, too few are left. It ends by itself, or once its group has people again.</p>`}`
    : html`<${Closed} of=${now} />`}
    <${Trouble} of=${problem} what="It can't be read now, so nothing is decided here." />
    ${isChanged && html`<p class="notice" role="alert">It was changed while you read it. <button type="button" onClick=${() => setFirst(now)}>Read it as it is now</button></p>`}
    <${Asks} of=${first} />
    <${Decisions} of=${now} propose=${shown && !why ? (/** @type {unknown} */ proposed) => run("change", proposed) : null} />
    <${Facts} of=${[
    ["Asked by", html`<${Said} of=${now.asked_by} />`],
    ["Agent", html`<a href=${address(`/agents/${now.agent}`)}><${Said} of=${now.agent} /></a>`],
    ["Task", html`<a href=${address(`/tasks/${now.task_id}`)}>the task that it works on</a>`],
    ["Until", html`<${Fragment}><${Left} at=${now.until} /> <span class="faint">${exact(now.until).split("\n")[0]}</span><//>`],
    ...approverFacts(now),
    ["Digest", now.digest && html`<${Id} of=${now.digest} />`],
    ["Question", html`<${Id} of=${now.id} />`],
  ]} /></article>`;
}

/** @param {{to: () => void}} props */
const Back = ({ to }) => html`<div class="row narrow-only"><button type="button" onClick=${to}>← Back to the list</button></div>`;

/** @type {Record<Act, [string, string]>} */
const ACTS = { approve: ["Approve", "a"], reply: ["Answer", "a"], change: ["Other arguments", "e"], standing: ["Now and later", "s"], refuse: ["Refuse", "x"] };

/** @param {{of: Question, isLive: boolean, run: (act: Act) => void}} props */
function Decide({ of, isLive, run }) {
  const acts = /** @type {Act[]} */ (of.kind === "action" ? ["approve", "change", "standing", "refuse"] : ["reply", "refuse"]);
  return html`<div class="row acts" role="group" aria-label="Decide">${acts.map((act) => html`<button key=${act} type="button" disabled=${!isLive}
    class=${act === "approve" || act === "reply" ? "primary" : act === "refuse" ? "danger" : ""} onClick=${() => run(act)}>${ACTS[act][0]} <${Key}>${ACTS[act][1]}<//></button>`)}</div>`;
}

/** @type {Record<string, string>} */
const ENDS = { approved: "It was approved.", answered: "It was answered.", refused: "It was refused.", revoked: "It was approved, and revoked.",
  expired: "Its time is over, and nobody decided: neither a yes nor a no.", withdrawn: "It was withdrawn: its task has ended, or goes on without it." };

/** @param {{of: Question}} props */
export function Closed({ of }) {
  const isOver = Date.parse(of.until) <= Date.now();
  return html`<p class="notice" role="status">${ENDS[of.outcome] ?? html`It is <${Said} of=${of.outcome} />.`}${of.used_at ? html` It was begun <${Ago} at=${of.used_at} />.` : of.outcome === "approved" && isOver ? " It wasn't begun in time, and can't be any more." : of.outcome === "approved" && html` It wasn't begun yet.
    ${" "}<button type="button" class="danger" onClick=${() => revoke(of)}>Revoke</button>`}</p>`;
}

/** What is asked: all of it, as text. @param {{of: Question}} props */
function Asks({ of }) {
  return html`<div class="asked whole">
    ${of.tool && html`<h3>Tool</h3><p><code><${Said} of=${of.tool} /></code></p><h3>Arguments</h3><${Whatever} of=${of.arguments ?? {}} title="Arguments" />`}
    ${of.tool && of.before !== undefined && html`<h3>Since the last approval</h3><${Before} before=${of.before} now=${of.arguments} />`}
    <h3>${of.tool ? "Why" : "Question"}</h3><${Said} of=${of.text} block />
    ${of.options.length > 0 && html`<h3>Options</h3><ul>${of.options.map((each) => html`<li><${Said} of=${each} /></li>`)}</ul>`}
    ${of.form && html`<h3>Form</h3><${Asked} of=${of.form} />`}</div>`;
}

/** @param {{of: unknown, title: string}} props */
function Whatever({ of, title }) {
  const text = JSON.stringify(of, null, 2);
  const whole = html`<pre tabindex="0" role="region" aria-label=${title}><${Said} of=${text} /></pre>`;
  return text.length > LONG ? html`<details class="data" open><summary>${text.length.toLocaleString()} characters</summary>${whole}</details>` : html`<div class="data">${whole}</div>`;
}

/** @param {{before: import("api").BeforeView | null, now: unknown}} props */
function Before({ before, now }) {
  if (!before) return html`<p>This tool wasn't approved for this agent before.</p>`;
  const isSame = changesOf(before.arguments, now).length === 0;
  return html`<p>${isSame ? "The same arguments were approved" : "Other arguments were approved"} by <${Said} of=${before.by.join(", ")} />, <${Ago} at=${before.at} />,
    for <a href=${address(`/tasks/${before.task_id}`)}>this task</a>.</p>${!isSame && html`<${Changes} was=${before.arguments} is=${now} />`}`;
}

/** `propose`: approves what another person has approved. @param {{of: Question, propose: ((proposed: unknown) => void) | null}} props */
export function Decisions({ of, propose }) {
  if (of.decisions.length === 0) return of.outcome === "open" && of.needed > 1 ? html`<h3>Decided so far</h3><p>Nobody has decided yet.</p>` : null;
  return html`<h3>Decided so far</h3><ul class="log">${of.decisions.map((each) => html`<li key=${`${each.by} ${each.at}`}>
    <p><strong><${Said} of=${each.by} /></strong>${each.by === who.value && " (you)"} ${each.outcome}${each.standing_answer && ", by a standing answer"}${each.arguments && " with other arguments"} · <${Ago} at=${each.at} /></p>
    ${each.reason && html`<${Said} of=${each.reason} block />`}
    ${each.answer !== null && each.answer !== undefined && (typeof each.answer === "string" ? html`<${Said} of=${each.answer} block />` : html`<${Whatever} of=${each.answer} title="Answer" />`)}
    ${each.arguments && html`<${Whatever} of=${each.arguments} title="Arguments that were approved" /><p class="faint">Compared with what it asks for:</p><${Changes} was=${of.arguments} is=${each.arguments} />
      ${propose && each.by !== who.value && html`<button type="button" onClick=${() => propose(each.arguments)}>Approve these arguments, too</button>`}`}</li>`)}</ul>`;
}
