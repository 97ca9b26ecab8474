/** The tracker: whether pages keep up with their tasks, and what to do where they don't. */
import { html, useState } from "../lib.js";
import { post } from "../core/api.js";
import { lookAgain, useLive } from "../core/live.js";
import { address } from "../core/router.js";
import { toast } from "../core/toasts.js";
import { Ago, Empty, Facts, Loading, Said, Trouble } from "../ui/parts.js";

/** @typedef {import("api").TrackerHealth} TrackerHealth */

export default function Tracker() {
  const { data, problem, isLoading } = useLive("/tracker/health", { everyMs: 5000 });
  const [check, setCheck] = useState(/** @type {import("api").TrackerCheck | null} */ (null));
  const [trouble, setTrouble] = useState(/** @type {unknown} */ (null));
  const [isBusy, setBusy] = useState(false);
  const health = /** @type {TrackerHealth | null} */ (data);
  const act = async (/** @type {() => Promise<void>} */ does) => {
    setTrouble(null);
    setBusy(true);
    await does().catch(setTrouble);
    setBusy(false);
    lookAgain();
  };
  const look = () => act(async () => setCheck(await post("/tracker/check")));
  const retry = (/** @type {string | null} */ id) => act(async () => {
    const told = /** @type {import("api").RetriedView} */ (await post("/tracker/retry", id ? { task_id: id } : {}));
    toast(`${told.revived} given up before are tried again, ${told.hurried} at once`);
  });
  if (isLoading) return html`<h1>Tracker</h1><${Loading} />`;
  if (!health) return html`<h1>Tracker</h1><${Trouble} of=${problem} what="The tracker's health can't be read." />`;
  if (!health.configured) return html`<${Empty} isPage title="No tracker yet"><p>Tasks can be pages of a Notion database: name it in the settings (<code>PUT /workspace/settings</code>), give a token (<code>PUT /tracker/token</code>), and check it here.</p><//>`;
  return html`<div class="head"><h1>Tracker</h1><span class=${`state ${health.status === "ok" ? "done" : "failed"}`}>${health.status === "ok" ? "✓" : "✕"} ${health.status}</span></div>
    <${Trouble} of=${problem} />
    <section class="card" aria-labelledby="health"><h2 id="health">Health</h2>${health.message && html`<${Said} of=${health.message} block />`}<${Facts} of=${[
    ["Pages behind", health.waiting],
    ["Stopped until", health.closed_until && html`<${Ago} at=${health.closed_until} />`],
    ["Compared", html`<${Ago} at=${health.last_reconciled_at} none="never" />`],
    ["Webhook", health.webhook.state],
  ]} /><div class="row"><button type="button" disabled=${isBusy} onClick=${look}>Check</button><button type="button" disabled=${isBusy} onClick=${() => retry(null)}>Try all again</button></div>
    <${Trouble} of=${trouble} />
    ${check && (check.ok ? html`<p class="good" role="status">Everything that Baton needs is there.</p>` : html`<ul class="log" role="status">${check.problems.map((each) => html`<li><p><span class="flag">${each.severity}</span> <strong><${Said} of=${each.about} /></strong> <${Said} of=${each.problem} /></p><p><${Said} of=${each.what_to_do} /></p></li>`)}</ul>`)}</section>
    ${health.dead.length > 0 && html`<section class="card" aria-labelledby="dead"><h2 id="dead">Given up</h2><ul class="log">${health.dead.map((page) => html`<li key=${page.task_id}><a href=${address(`/tasks/${page.task_id}`)}>${page.task_id}</a>
      <span class="faint"><${Ago} at=${page.since} /></span> <${Said} of=${page.message} /> <button type="button" disabled=${isBusy} onClick=${() => retry(page.task_id)}>Try again</button></li>`)}</ul></section>`}`;
}
