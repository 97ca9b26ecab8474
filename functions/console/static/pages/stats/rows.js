/** What ended, by agent or by direction, as a table. */
import { html } from "../../lib.js";
import { address } from "../../core/router.js";
import { Said, Way } from "../../ui/parts.js";
import { ended, failures, money, PHASES, tokens, took } from "./counts.js";

/** @typedef {import("api").StatsRowView} Row */

/** `cents`: what a million tokens cost, 0 if that isn't known.
 * @param {{of: Row[], isByAgent: boolean, cents: number}} props */
export function Rows({ of, isByAgent, cents }) {
  return html`<div class="numbers card" role="region" aria-label=${isByAgent ? "By agent" : "By direction"}
    tabindex="0"><table>
    <thead><tr>
      <th scope="col">${isByAgent ? "Agent" : "From → to"}</th>
      <th scope="col">Begun</th><th scope="col">Ended</th><th scope="col">Failed</th>
      <th scope="col">Rejected</th><th scope="col">Cancelled</th>
      ${PHASES.map((phase) => html`<th key=${phase.name} scope="col">${phase.title}<br />p50 / p95</th>`)}
      <th scope="col">Leases lost</th><th scope="col">Tried again</th><th scope="col">Tokens</th>
      ${cents > 0 && html`<th scope="col">Cost, about</th>`}
    </tr></thead>
    <tbody>${of.map((row) => html`<tr key=${`${row.source} ${row.target}`}>
      <th scope="row"><${Who} of=${row} isByAgent=${isByAgent} /></th>
      <td>${row.begun.toLocaleString()}</td><td>${ended(row).toLocaleString()}</td>
      <td class=${row.failed > 0 ? "bad" : ""}>
        ${row.failed.toLocaleString()} <span class="faint">${failures(row)}</span></td>
      <td>${row.rejected.toLocaleString()}</td><td>${row.cancelled.toLocaleString()}</td>
      ${PHASES.map((phase) => html`<td key=${phase.name}>
        ${took(row[phase.name].p50)} / ${took(row[phase.name].p95)}</td>`)}
      <td>${row.recoveries.toLocaleString()}</td><td>${row.retries.toLocaleString()}</td>
      <td>${tokens(row.tokens)}</td>
      ${cents > 0 && html`<td>${money(row.tokens, cents)}</td>`}
    </tr>`)}</tbody>
  </table></div>`;
}

/** @param {{of: Row, isByAgent: boolean}} props */
function Who({ of, isByAgent }) {
  if (!isByAgent) return html`<${Way} from=${of.source ?? ""} to=${of.target} />`;
  if (of.target === null) return html`<em>nobody took it</em>`;
  return html`<a href=${address(`/agents/${of.target}`)}><${Said} of=${of.target} /></a>`;
}
