/** One task, whole: who holds it, where it comes from, what was asked, what came of it. */
import { html, useEffect, useState } from "../lib.js";
import { useLive } from "../core/live.js";
import { address, subject } from "../core/router.js";
import { plain } from "../core/said.js";
import { now } from "../core/time.js";
import { Around, Glance, titleOf, useEvidence } from "../ui/evidence.js";
import { Named } from "../ui/evidence/origin.js";
import { Json } from "../ui/text.js";
import { Ago, Empty, Facts, Flags, Id, Left, Loading, Said, State, Trouble, Way } from "../ui/parts.js";
import { Content } from "./approvals/whole.js";
import { Acts } from "./task/acts.js";
import { Asked } from "./task/asked.js";
import { Chain } from "./task/chain.js";
import { Outcome } from "./task/outcome.js";
import { useTrail } from "./task/follow.js";
import { Share, WhyFailed } from "./task/share.js";
import { Checkpoints, LateResults, Notes } from "./task/past.js";
import { Timeline } from "./task/timeline.js";
import { Trail } from "./task/trail.js";
import { QuestionsOfTask } from "./questions/list.js";
import { isOpen } from "../core/tree.js";

/** @typedef {import("api").WholeTask} WholeTask */

/** No ring tells of a heartbeat, or of a page in the tracker. @param {WholeTask} task */
const isUntold = (task) => Boolean(task.claim) || task.tracker?.status === "pending";

/** @param {{params: Record<string, string>}} props */
export default function TaskPage({ params }) {
  const { data, problem, isLoading } = useLive(`/tasks/${encodeURIComponent(params.id ?? "")}`,
    { isUntold, isFirst: true });
  const task = /** @type {WholeTask | null} */ (data);
  if (isLoading) return html`<h1>Task</h1><${Loading} />`;
  if (!task) {
    return problem?.status === 404
      ? html`<${Empty} isPage title="There is no such task">
          <p>Or you may not read it. <a href=${address("/tasks")}>All tasks</a></p>
        <//>`
      : html`<h1>Task</h1><${Trouble} of=${problem} what="The task can't be read." />`;
  }
  return html`<${Whole} task=${task} problem=${problem} />`;
}

/** @param {{task: WholeTask, problem: unknown}} props */
function Whole({ task, problem }) {
  const when = task.version;
  const { data: handoff } = useLive(`/handoffs/${task.handoff_id}`, { everyMs: 20_000, when });
  const [shown, setShown] = useState(/** @type {import("api").HandoffView | null} */ (null));
  const evidence = useEvidence(task, true);
  const { chain } = evidence;
  const events = useTrail(task.id, isOpen(task.state));
  const title = titleOf(task, handoff);
  useEffect(() => {
    subject.value = plain(title || task.id);
    return () => { subject.value = ""; };
  }, [title]);
  return html`<article class="task">
    <header>
      <p class="row">
        <${State} of=${task.state} /> <${Flags} of=${task.flags} />${" "}
        <${Way} from=${task.source_agent} to=${task.target_agent} />
        <span class="faint">${task.kind} · ${task.priority} · <${Ago} at=${task.created_at} /></span>
        <span class="spread"></span>
        <${Share} task=${task} title=${title} />
      </p>
      <h1 class="title"><${Said} of=${title || task.id} /></h1>
      <${WhyFailed} task=${task} />
      <${Glance} task=${task} of=${evidence} />
      <${Acts} task=${task} chain=${chain} shown=${shown} />
    </header>
    <${Trouble} of=${problem} />
    <${Holder} task=${task} />
    <${Chain} chain=${chain} here=${task.id} />
    <${Timeline} id=${task.id} events=${events} usage=${task.usage} />
    <${QuestionsOfTask} id=${task.id} when=${when} />
    <div class="halves">
      <div>
        <section class="card" aria-labelledby="asked-for">
          <h2 id="asked-for">What was asked</h2>
          ${task.state === "needs"
            ? html`<${Content} task=${task} ids=${[task.id]} title=${title} chain=${chain}
                onShown=${(/** @type {unknown} */ _, /** @type {any} */ handoff) => setShown(handoff)} />`
            : handoff ? html`<${Asked} handoff=${handoff} title=${title} chain=${chain} />`
            : html`<${Loading} />`}
          <${Json} of=${task.context} title="Everything that was passed on" />
        </section>
        <${Outcome} task=${task} handoff=${handoff} />
        <section class="card" aria-labelledby="beside">
          <h2 id="beside">What Baton knows</h2>
          <${Around} task=${task} whole=${task} of=${evidence} hasChain=${false} />
        </section>
      </div>
      <div>
        <${Details} task=${task} chain=${chain} />
        <${Checkpoints} id=${task.id} when=${when} />
        <${Notes} id=${task.id} when=${when} isHeld=${Boolean(task.claim)} />
        <${LateResults} task=${task} />
        <${Trail} id=${task.id} events=${events} />
      </div>
    </div>
  </article>`;
}

/** Who has it now, and for how long. @param {{task: WholeTask}} props */
function Holder({ task }) {
  const { claim, wait } = /** @type {any} */ (task);
  if (claim) {
    return html`<p class="holder" aria-live="off">
      <span class="pulse" aria-hidden="true"></span>
      <strong><${Said} of=${claim.agent} /></strong> holds it as <${Said} of=${claim.worker} />,${" "}
      since <${Ago} at=${claim.claimed_at} />. Last heard of <${Ago} at=${claim.heartbeat_at} />;${" "}
      the lease ends in <strong><${Left} at=${claim.expires_at} over="a moment: it is over" /></strong>.${" "}
      <span class="faint">Fence ${claim.fence}</span>
    </p>`;
  }
  if (wait) {
    const branches = wait.for === "branches" && `${wait.branches.length} branches (${wait.policy})`;
    return html`<p class="holder">
      It waits for ${branches || (wait.for === "answers" ? "people's answers" : "an answer from outside")},
      since <${Ago} at=${wait.since} />${wait.until && html`, until <${Ago} at=${wait.until} />`}.
    </p>`;
  }
  if (task.state === "delegated" && task.ready_at) {
    return html`<p class="holder">${Date.parse(task.ready_at) > now.value
      ? html`Ready <${Ago} at=${task.ready_at} />.`
      : html`Ready since <${Ago} at=${task.ready_at} />; nobody has claimed it yet.`}</p>`;
  }
  return null;
}

/** @param {{task: WholeTask, chain: import("api").ChainView | null}} props */
function Details({ task, chain }) {
  const { tracker, usage } = /** @type {any} */ (task);
  const spent = usage && usage.model_calls > 0;
  return html`<section class="card" aria-labelledby="details">
    <h2 id="details">Details</h2>
    <${Facts} of=${[
      ["Task", html`<${Id} of=${task.id} />`],
      ["Handoff", html`<${Id} of=${task.handoff_id} />`],
      ["Revision", task.revision],
      ["Attempts", `${task.attempt} of ${task.max_attempts}`],
      ["Type of work", task.work_type && html`<${Said} of=${task.work_type} />`],
      ["Effort", task.effort],
      ["Not before", task.not_before && html`<${Ago} at=${task.not_before} />`],
      ["Deferred until", task.deferred_until && html`<${Ago} at=${task.deferred_until} />`],
      ["Due", task.due_date],
      ["Deadline", task.deadline && html`<${Ago} at=${task.deadline} />`],
      ["Conversation", task.input && html`<a href=${address(`/chat/${task.workflow_id}`)}>what was said</a>`],
      ["Retry of", task.retry_of && html`<${Named} id=${task.retry_of} chain=${chain} />`],
      ["Part of", task.parent_id && html`<${Named} id=${task.parent_id} chain=${chain} />`],
      ["Model calls", spent
        && `${usage.model_calls}, ${(usage.input_tokens + usage.output_tokens).toLocaleString()} tokens`],
      ["Changed", html`<${Ago} at=${task.updated_at} />`],
      ["Tracker", tracker && html`<${Page} of=${tracker} />`],
    ]} />
  </section>`;
}

/** @param {{of: import("api").TrackerView}} props */
function Page({ of }) {
  const isLink = of.url?.startsWith("https://") || of.url?.startsWith("http://127.0.0.1");
  return html`${isLink ? html`<a href=${of.url} target="_blank" rel="noopener noreferrer">its page</a>` : "no page yet"}
    ${" "}<span class=${of.status === "ok" || of.status === "pending" ? "faint" : "flag"}>${of.status}</span>
    ${of.message && html` <${Said} of=${of.message} />`}`;
}
