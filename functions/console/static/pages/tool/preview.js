/** What a model would see of a tool, were its form saved as it is now. Nothing is saved. */
import { html, useEffect, useState } from "../../lib.js";
import { post, Problem } from "../../core/api.js";
import { Data, Said, Trouble } from "../../ui/parts.js";

/** @typedef {import("api").ToolSchemaView} ToolSchema */
/** `body`: what saving would send. @typedef {{name: string, body: unknown}} Draft */
/** `schema`: the last good one. `problem`: what is wrong with the draft now.
 * @typedef {{schema: ToolSchema | null, problem: Problem | null}} Preview */

const PAUSE_MS = 300;

/** Asks when the draft has stood still for a moment. @param {Draft | null} draft @returns {Preview} */
export function usePreview(draft) {
  const [told, setTold] = useState(/** @type {Preview} */ ({ schema: null, problem: null }));
  const asked = draft?.name ? JSON.stringify(draft) : "";
  useEffect(() => {
    if (!draft?.name) return undefined;
    let isOld = false;
    const tell = (/** @type {Partial<Preview>} */ news) => {
      if (!isOld) setTold((before) => ({ ...before, ...news }));
    };
    const timer = setTimeout(async () => {
      try {
        tell({
          schema: await post(`/tools/${encodeURIComponent(draft.name)}/preview`, draft.body, { isQuiet: true }),
          problem: null,
        });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        tell({ problem: error });
      }
    }, PAUSE_MS);
    return () => { isOld = true; clearTimeout(timer); };
  }, [asked]);
  return told;
}

/** What is wrong at a field of the form, and below it.
 * @param {Preview} preview @param {string} field @param {boolean} [isAlone] not below it */
export function wrongAt({ problem }, field, isAlone = false) {
  const found = problem?.errors.filter((each) => each.field === field
    || (!isAlone && each.field.startsWith(`${field}.`)));
  return found?.map((each) => each.message).join("; ");
}

/** @param {{of: ToolSchema | null, problem: Problem | null}} props */
export function Schema({ of, problem }) {
  return html`<section class="card" aria-labelledby="schema">
    <h2 id="schema">As a model sees it</h2>
    ${problem?.errors.length ? html`<p class="notice" role="status">The form has something
      wrong.${of ? " This is what a model saw of it before." : ""}</p>`
    : html`<${Trouble} of=${problem} />`}
    ${of ? html`<p><code><${Said} of=${of.name} /></code></p>
      <${Said} of=${of.description} block />
      <${Data} of=${of.input_schema} title="Arguments" open />`
    : html`<p class="faint">Once it has a name, its schema is shown here.</p>`}
  </section>`;
}
