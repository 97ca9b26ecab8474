/** Groups and approval rules, to read. An administrator changes them with the command line or the API. */
import { html } from "../../lib.js";
import { address } from "../../core/router.js";
import { Said } from "../../ui/parts.js";

/** @typedef {import("api").SettingsView} Settings */
/** @typedef {import("api").ApprovalRuleView} Rule */

/** @param {{of: Settings}} props */
export function Rules({ of: { groups = {}, approval_rules: rules = [], warnings = [] } }) {
  const names = Object.keys(groups);
  return html`<section class="card">
    <h2>Groups and approval rules</h2>
    <p class="faint">An administrator changes them: <code>baton settings set</code>. A change that loosens one waits
      for a second administrator, on the page of <a href=${address("/changes")}>changes</a>.</p>
    <h3>Groups</h3>
    ${names.length === 0 ? html`<p class="faint">None.</p>` : html`<ul>${names.map((name) => html`<li key=${name}>
      <strong><${Said} of=${name} /></strong>: <${Said} of=${(groups[name] ?? []).join(", ")} /></li>`)}</ul>`}
    <h3>Approval rules</h3>
    ${rules.length === 0 ? html`<p class="faint">None: one approver is enough.</p>`
    : html`<ul>${rules.map((rule, index) => html`<li key=${index}><${Said} of=${sentence(rule)} />
      ${warningsOf(warnings, index).map((each) => html`<p key=${each} class="notice"><${Said} of=${each} /></p>`)}
    </li>`)}</ul>`}
  </section>`;
}

/** @param {string[]} warnings each begins with the place of its rule @param {number} index */
function warningsOf(warnings, index) {
  const place = `approval_rules.${index}: `;
  return warnings.filter((each) => each.startsWith(place))
    .map((each) => each.slice(place.length)).map((text) => text.charAt(0).toUpperCase() + text.slice(1));
}

/** @param {Rule} rule */
function sentence(rule) {
  const work = rule.tool ? `Actions with ${rule.tool}` : "Handoffs";
  const fits = [rule.source && `from ${rule.source}`, rule.target && `to ${rule.target}`,
    rule.work_type && `of type ${rule.work_type}`].filter(Boolean).join(" ");
  const people = [...rule.people, ...(rule.group ? [`the group ${rule.group}`] : [])].join(", ") || "any approver";
  const author = rule.not_author ? ", without their author" : "";
  return `${work}${fits && ` ${fits}`}: ${rule.needed} of ${people}${author}.`;
}
