/** The tracker (Notion): whether pages get there, what was given up, what is wrong with its settings, and what comes
 * from it. */
import { html, useState } from "../lib.js";
import { change, post } from "../core/api.js";
import { useKeys } from "../core/keys.js";
import { lookAgain, useLive } from "../core/live.js";
import { address } from "../core/router.js";
import { failed, toast } from "../core/toasts.js";
import { ask } from "../ui/ask.js";
import { Ago, Data, Empty, Facts, Id, Key, Loading, Said, Trouble } from "../ui/parts.js";
import { ImportResult, useImport, Webhook } from "./tracker/acts.js";

/** @typedef {import("api").TrackerHealth} Health */
/** @typedef {import("api").TrackerCheck} Check */
/** @typedef {import("api").SettingsView} Settings */

export default function Tracker() {
  const { data, problem, isLoading } = useLive("/tracker/health", { everyMs: 5000, isUntold: () => true });
  const { data: settings } = useLive("/workspace/settings", { everyMs: 20_000 });
  const health = /** @type {Health | null} */ (data);
  const check = useCheck();
  const importing = useImport();
  const retryAll = () => { void retry(null); };
  useKeys("Tracker", health?.configured ? {
    c: { does: "check it", run: check.run },
    r: { does: "send again what was given up", run: retryAll },
    i: { does: "import its handoffs", run: importing.begin },
  } : {});
  return html`<div class="head"><h1>Tracker</h1>${health?.configured && html`<${Status} of=${health.status} />`}</div>
    <${Trouble} of=${problem} what="Its health can't be read." />
    ${isLoading ? html`<${Loading} />`
    : health && html`<div class="row acts">
        ${health.configured && html`
          <button type="button" class="primary" aria-disabled=${check.isBusy} onClick=${check.run}>
            ${check.isBusy ? "Checking …" : "Check"} <${Key}>c<//></button>
          <button type="button" onClick=${retryAll}>Retry everything <${Key}>r<//></button>
          <button type="button" disabled=${importing.isBusy} onClick=${importing.begin}>
            Import handoffs <${Key}>i<//></button>`}
        <button type="button" disabled=${!settings} onClick=${() => connect(/** @type {Settings} */ (settings))}>
          Database</button>
        <button type="button" onClick=${giveToken}>Notion's token</button>
      </div>
      <${Checked} of=${check.found} trouble=${check.trouble} />
      <${ImportResult} of=${importing} />
      ${health.configured ? html`<${Whole} of=${health} settings=${/** @type {Settings | null} */ (settings)} />`
      : html`<${Empty} title="No tracker is connected">
        <p>With one, each task has a page in a Notion database, and people decide there as well. Give Baton Notion's
          token, name the database, then check.</p><//>`}`}`;
}

/** @param {{of: string}} props */
function Status({ of }) {
  return html`<span class=${`state ${of === "ok" ? "done" : of === "pending" ? "waiting" : "failed"}`}>
    ${of === "ok" ? "✓" : of === "pending" ? "◐" : "✕"} ${of}</span>`;
}

/** @param {{of: Health, settings: Settings | null}} props */
function Whole({ of, settings }) {
  return html`<section class="card" aria-labelledby="health">
      <h2 id="health">Health</h2>
      ${of.message && html`<${Said} block of=${of.message} />`}
      <${Facts} of=${[
        ["Waiting", `${of.waiting}${of.waiting === 1000 ? " or more" : ""} pages`],
        ["Next attempt", of.closed_until && html`<${Ago} at=${of.closed_until} />`],
        ["People's changes", of.last_reconciled_at && html`handled up to <${Ago} at=${of.last_reconciled_at} />`],
      ]} />
      <${Data} of=${settings?.tracker} title="Its settings" />
    </section>
    <${Webhook} of=${of.webhook} />
    <section class="card" aria-labelledby="dead">
      <h2 id="dead">Given up <span class="faint">${of.dead.length || "nothing"}</span></h2>
      ${of.dead.length > 0 ? html`<ul class="log">${of.dead.map((page) => html`<li key=${page.task_id}>
        <p class="row">
          <a href=${address(`/tasks/${page.task_id}`)}>its task</a> <${Id} of=${page.task_id} /> <span class="faint">
            of <${Ago} at=${page.since} /></span>
          <button type="button" onClick=${() => { void retry(page.task_id); }}>Retry</button>
        </p>
        <${Said} block of=${page.message} />
      </li>`)}</ul>`
      : html`<p class="faint">A page that Notion refuses for good stands here, with Notion's word. The task itself goes
        on.</p>`}
    </section>`;
}

function useCheck() {
  const [state, setState] = useState(/** @type {{isBusy: boolean, found: Check | null, trouble: unknown}} */ (
    { isBusy: false, found: null, trouble: null }));
  const run = async () => {
    setState({ isBusy: true, found: null, trouble: null });
    try {
      setState({ isBusy: false, found: await post("/tracker/check"), trouble: null });
    } catch (error) {
      setState({ isBusy: false, found: null, trouble: error });
    }
  };
  return { ...state, run: () => { if (!state.isBusy) void run(); } };
}

/** @param {{of: Check | null, trouble: unknown}} props */
function Checked({ of, trouble }) {
  if (trouble) return html`<${Trouble} of=${trouble} what="The check couldn't be made." />`;
  if (!of) return null;
  return html`<section class="card" role="status" aria-labelledby="checked">
    <h2 id="checked">${of.ok ? "The check found nothing that keeps pages away" : "Pages can't get there"}</h2>
    ${of.problems.length > 0 ? html`<ul class="log">${of.problems.map((each) => html`
      <li key=${`${each.about} ${each.problem}`}>
        <span class=${`severity ${each.severity === "error" ? "critical" : "warning"}`}>${each.severity}</span> <strong>
          <${Said} of=${each.about} /></strong>
        <${Said} block of=${each.problem} />
        <p><${Said} of=${each.what_to_do} /></p>
      </li>`)}</ul>`
    : html`<p class="good">Token, database and properties are as they should be.</p>`}
  </section>`;
}

/** @param {string | null} taskId null: everything */
async function retry(taskId) {
  try {
    const done = /** @type {import("api").RetriedView} */ (
      await post("/tracker/retry", taskId ? { task_id: taskId } : {}));
    toast(`${done.revived + done.hurried} pages are sent again${done.complete ? ""
      : "; there are more: retry once more"}`, { seconds: 8 });
  } catch (error) {
    failed("Nothing is sent again", error);
  }
  lookAgain();
}

function giveToken() {
  ask({
    title: "Notion's token",
    text: "The secret of an integration that may read and write the database. Baton keeps it, and never shows it "
      + "again.",
    fields: [{ name: "token", label: "Token", type: "password", required: true }],
    confirm: "Keep it",
    run: async ({ token }) => {
      await change("PUT", "/tracker/token", { token });
      toast("Kept. Check, to see whether it fits.");
      lookAgain();
    },
  });
}

/** @param {Settings} settings */
function connect(settings) {
  ask({
    title: "The database",
    text: "Each task has a page in it. Left empty, the tracker is switched off: tasks go on, their pages stay as they "
      + "are.",
    fields: [{ name: "database", label: "Database", value: settings.tracker?.database ?? "",
      hint: "Its id or address in Notion." }],
    confirm: "Save",
    run: async ({ database }) => {
      await change("PUT", "/workspace/settings",
        { tracker: database ? { database } : null, version: settings.version });
      toast(database ? "Saved. Check, to see whether it fits." : "The tracker is off");
      lookAgain();
    },
  });
}
