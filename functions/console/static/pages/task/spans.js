/** What a task waited for, and who was at work, one after the other, as its trail tells: without a gap from its first
 * event to its end or to now. The rules of baton/domain/tasks/spans.py. */

/** @typedef {import("api").EventView} EventView */
/** @typedef {"person" | "later" | "worker" | "work" | "answers" | "branches" | "callback"} Kind */
/** Times in milliseconds. `ended` null: it goes on. `by`: the type of the event that ended it; null where time did.
 * @typedef {{kind: Kind, began: number, ended: number | null, by: string | null, fence: number, attempt: number,
 * agent: string, worker: string}} Span */

const ENDED = new Set(["done", "failed", "rejected", "cancelled"]);
/** What is a moment, and is marked on the axis. @type {Record<string, string>} */
export const MARKS = {
  approved: "approved", approval_given: "one approved", approval_undone: "approval taken back",
  checkpoint_saved: "checkpoint", heartbeat_lost: "worker lost", requeued: "tried again", released: "given back",
  question_asked: "question", question_decided: "answer", question_expired: "no answer in time",
  approval_used: "action begun", alert_raised: "alert",
};

/** @param {EventView[]} events from the first @param {number} now @returns {Span[]} */
export function spansOf(events, now) {
  /** @type {Span[]} */
  const found = [];
  /** @type {Record<string, any>} */
  const fields = {};
  /** @type {{span: Span, due: number} | null} */
  let present = null;
  let isLost = false;
  for (const event of events) {
    Object.assign(fields, event.data.changes);
    isLost ||= event.type === "heartbeat_lost";
    const following = beginning(fields, Date.parse(event.at));
    if (present && following && isSame(present, following)) continue;
    if (present) found.push(...endedOf(present, Date.parse(event.at), isLost ? "heartbeat_lost" : event.type));
    [present, isLost] = [following, false];
  }
  return present ? [...found, ...openOf(present, now)] : found;
}

/** @param {Record<string, any>} fields @param {number} began @returns {{span: Span, due: number} | null} */
function beginning(fields, began) {
  if (ENDED.has(fields.state)) return null;
  /** @type {Span} */
  const span = { kind: "worker", began, ended: null, by: null, fence: 0, attempt: 0, agent: "", worker: "" };
  if (fields.state === "claimed") {
    const { agent = "", worker = "", fence = 0 } = fields.claim ?? {};
    return {
      span: { ...span, kind: "work", fence: Number(fence), attempt: Number(fields.attempt ?? 0), agent, worker },
      due: 0,
    };
  }
  if (fields.state === "waiting") {
    const { questions, interaction_id: outside } = fields.wait ?? {};
    return { span: { ...span, kind: questions?.length ? "answers" : outside ? "callback" : "branches" }, due: 0 };
  }
  const isAsked = fields.state === "needs";
  return {
    span: { ...span, kind: isAsked ? "person" : "worker" },
    due: Date.parse(fields[isAsked ? "deferred_until" : "ready_at"] ?? "") || 0,
  };
}

/** @param {{span: Span, due: number}} one @param {{span: Span, due: number}} other */
const isSame = (one, other) =>
  one.span.kind === other.span.kind && one.span.fence === other.span.fence && one.due === other.due;

/** Of one that was put off, the time before it was due is by itself.
 * @param {{span: Span, due: number}} of @param {number} at @param {string} by @returns {Span[]} */
function endedOf({ span, due }, at, by) {
  const cut = Math.min(Math.max(due, span.began), at);
  const later = { ...span, kind: /** @type {Kind} */ ("later"), ended: cut, by: cut === at ? by : null };
  return [later, { ...span, began: cut, ended: at, by }]
    .filter((each) => each.ended > each.began);
}

/** @param {{span: Span, due: number}} of @param {number} now @returns {Span[]} */
function openOf({ span, due }, now) {
  if (due <= span.began) return [span];
  if (due > now) return [{ ...span, kind: "later" }];
  return [{ ...span, kind: "later", ended: due }, { ...span, began: due }];
}

/** @param {Span} span @param {number} now */
export const secondsOf = (span, now) => ((span.ended ?? now) - span.began) / 1000;
