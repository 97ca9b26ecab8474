/** What holds for the whole workspace, with what each limit means. */
import { html, useState } from "../lib.js";
import { change } from "../core/api.js";
import { lookAgain, useLive } from "../core/live.js";
import { toast } from "../core/toasts.js";
import { Field } from "../ui/ask.js";
import { Data, Loading, Trouble } from "../ui/parts.js";
import { GROUPS } from "./settings/limits.js";

/** @typedef {import("api").SettingsView} SettingsView */

export default function Settings() {
  const { data, problem, isLoading } = useLive("/workspace/settings", { everyMs: 5000 });
  const settings = /** @type {SettingsView | null} */ (data);
  if (isLoading) return html`<h1>Settings</h1><${Loading} />`;
  return html`<div class="head"><h1>Settings</h1>${settings && html`<span class="faint">version ${settings.version}</span>`}</div><${Trouble} of=${problem} what="The settings can't be read." />
    ${settings && html`<${Form} settings=${settings} />`}`;
}

/** @param {{settings: SettingsView}} props */
function Form({ settings }) {
  const [based, setBased] = useState(settings);
  const [trouble, setTrouble] = useState(/** @type {unknown} */ (null));
  const save = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    const changes = changed(/** @type {Record<string, any>} */ (based), form);
    if (Object.keys(changes).length === 0) { toast("Nothing was changed"); return; }
    setTrouble(null);
    try {
      setBased(await change("PUT", "/workspace/settings", { ...changes, version: based.version }));
      toast("Saved");
      lookAgain();
    } catch (error) {
      setTrouble(error);
    }
  };
  const values = /** @type {Record<string, any>} */ (based);
  return html`<form onSubmit=${save} class="settings">
    ${GROUPS.map(([title, limits]) => html`<section class="card" key=${title} aria-label=${title}><h2>${title}</h2>
      ${limits.map((limit) => html`<${Field} key=${limit.name} of=${{ name: limit.name, label: limit.label, type: "number", required: true, value: String(values[limit.name]), min: String(limit.from), max: String(limit.to),
    hint: `${limit.hint} From ${limit.from.toLocaleString()} to ${limit.to.toLocaleString()}.` }} />`)}</section>`)}
    <section class="card" aria-label="Rules"><h2>Rules</h2>
      <${Field} of=${{ name: "time_zone", label: "Time zone", required: true, value: based.time_zone, hint: "For due dates, such as Europe/Berlin." }} />
      <${Field} of=${{ name: "breaker_scope", label: "A direction is busy", type: "select", required: true, value: based.breaker_scope, options: [["open", "while an escalation is open"], ["any", "for the whole window"]] }} />
      <${Field} of=${{ name: "loop_guard", label: "Loop guard", type: "select", required: true, value: String(based.loop_guard), options: [["true", "on"], ["false", "off"]] }} />
      <${Field} of=${{ name: "agents_read", label: "Agents read", type: "select", required: true, value: based.agents_read, options: [["own", "their own work"], ["workspace", "each other's work as well"]] }} />
      <${Data} of=${based.guardrails} title="Guardrails" /><${Data} of=${based.tracker} title="Tracker" /><${Data} of=${based.holidays} title="Holidays" /></section>
    <${Trouble} of=${trouble} what="It isn't saved." />
    ${settings.version !== based.version && html`<p class="notice">Somebody has changed the settings since you opened them. <button type="button" onClick=${() => location.reload()}>Show theirs</button></p>`}
    <div class="row end"><button type="submit" class="primary">Save</button></div></form>`;
}

/** The fields that differ from what they were. @param {Record<string, any>} before @param {FormData} form */
function changed(before, form) {
  /** @type {Record<string, unknown>} */
  const changes = {};
  for (const [name, text] of form) {
    const was = before[name];
    const value = typeof was === "number" ? Number(text) : typeof was === "boolean" ? text === "true" : String(text);
    if (value !== was) changes[name] = value;
  }
  return changes;
}
