/** Browser notifications, for what a person has chosen on this device: each thing once, whatever tabs there are, and
 * none while one of them is looked at. */
import { effect, signal } from "../lib.js";
import { ROOT } from "./api.js";
import { go } from "./router.js";
import { plain } from "./said.js";
import { who, workspace } from "./session.js";
import { local } from "./storage.js";
import { waiting } from "./waiting.js";

/** @typedef {"urgent" | "questions" | "critical"} Choice */
/** @typedef {{id: string, of: Choice, says: string, path: string, query: Record<string, string>}} News */
/** @type {[Choice, string][]} */
export const CHOICES = [
  ["urgent", "Handoffs of P0 and P1 that wait for approval"],
  ["questions", "Questions of agents that I may answer"],
  ["critical", "Critical alerts"],
];
const MOST_TOLD = 500;
const LONGEST = 120;
const SEEN = `baton.seen ${ROOT.pathname}`;
const URGENT = ["P0", "P1"];

const mine = (/** @type {string} */ what) => `baton.${what} ${ROOT.pathname} ${workspace.value}/${who.value}`;

/** @type {import("../vendor/signals.js").Signal<Choice[]>} */
export const chosen = signal([]);
effect(() => { chosen.value = who.value ? kept("notify") ?? [] : []; });
addEventListener("storage", ({ key }) => { if (key === mine("notify")) chosen.value = kept("notify") ?? []; });

/** @param {Choice} choice @param {boolean} isOn */
export function choose(choice, isOn) {
  chosen.value = [...chosen.value.filter((each) => each !== choice), ...(isOn ? [choice] : [])];
  local.setItem(mine("notify"), JSON.stringify(chosen.value));
}

/** While a tab is looked at it holds this, together with others: a person reads it there. */
function holdWhileSeen() {
  if (document.visibilityState !== "visible") return;
  const untilHidden = () => new Promise((/** @type {(_: void) => void} */ release) => {
    document.addEventListener("visibilitychange", () => release(), { once: true });
  });
  void navigator.locks.request(SEEN, { mode: "shared" }, untilHidden);
}

/** Tells as long as the page is there. */
export function keepTelling() {
  holdWhileSeen();
  document.addEventListener("visibilitychange", holdWhileSeen);
  effect(() => {
    const found = waiting.value;
    if (found && who.value) void tell(news(found), mine("told"));
  });
}

/** @param {import("./waiting.js").Waiting} found @returns {News[]} */
function news({ needs, questions, alerts }) {
  return [
    ...needs.filter((task) => URGENT.includes(task.priority)).map((task) => /** @type {News} */ ({
      id: task.id, of: "urgent", says: `${task.priority} to approve: ${task.title}`, path: "/approvals",
      query: { task: task.id },
    })),
    ...questions.filter(isForMe).map((asked) => /** @type {News} */ ({
      id: asked.id, of: "questions", says: `${asked.agent} asks: ${asked.text}`, path: "/approvals",
      query: { question: asked.id, of: asked.task_id },
    })),
    ...alerts.filter((alert) => alert.severity === "critical").map((alert) => /** @type {News} */ ({
      id: alert.id, of: "critical", says: `Critical: ${alert.kind.replaceAll("_", " ")}`, path: "/alerts",
      query: { alert: alert.id },
    })),
  ];
}

/** As far as it is known without the groups' members. @param {import("api").QuestionView} asked */
function isForMe({ never, people, group }) {
  return !never.includes(`human:${who.value}`) && (people.length === 0 || people.includes(who.value) || group !== null);
}

/** What is there as one begins is no news; one tab at a time says what is. @param {News[]} found @param {string} key */
async function tell(found, key) {
  await navigator.locks.request(key, async () => {
    const before = /** @type {string[] | null} */ (JSON.parse(local.getItem(key) ?? "null"));
    const fresh = found.filter((each) => !before?.includes(each.id));
    if (before && fresh.length === 0) return;
    local.setItem(key, JSON.stringify([...(before ?? []), ...fresh.map((each) => each.id)].slice(-MOST_TOLD)));
    const { held } = await navigator.locks.query();
    if (!before || held?.some((lock) => lock.name === SEEN) || !("Notification" in window)) return;
    for (const each of fresh) if (chosen.value.includes(each.of)) show(each);
  });
}

/** A title, and no more: it may be seen by others. @param {News} one */
function show({ id, says, path, query }) {
  if (Notification.permission !== "granted") return;
  const text = plain(says);
  const body = text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text;
  const shown = new Notification("Baton", { tag: id, body });
  shown.onclick = () => { window.focus(); go(path, query); shown.close(); };
}

/** @param {string} what */
function kept(what) {
  const found = JSON.parse(local.getItem(mine(what)) ?? "null");
  return Array.isArray(found) ? found : null;
}
