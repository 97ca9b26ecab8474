/** What a person fills in to answer: fields of a question's kind, and the answer that they make. */
import { html } from "../../lib.js";
import { parsed } from "../../core/api.js";
import { plain } from "../../core/said.js";
import { Data, Said } from "../../ui/parts.js";

/** @typedef {import("../../ui/ask.js").FieldOf} FieldOf */
/** @typedef {{fields: FieldOf[], read: (values: Record<string, string>) => unknown}} Form */
/** @typedef {{type?: unknown, enum?: unknown, enumNames?: unknown, title?: unknown, description?: unknown, default?: unknown, minLength?: number, maxLength?: number,
 *   minimum?: number, maximum?: number}} Property */

/** Names of fields are numbers: what an agent calls them names nothing of the page. @param {import("./list.js").Question} question @returns {Form} */
export function formOf({ kind, options, form }) {
  if (kind === "choice") {
    const fields = [{ name: "0", label: "Your answer", type: "radio", required: true, options: numbered(options) }];
    return { fields, read: (values) => options[Number(values[0])] };
  }
  if (kind === "text") return { fields: [{ name: "0", label: "Your answer", type: "textarea", required: true }], read: (values) => values[0] };
  const properties = /** @type {[string, Property][]} */ (Object.entries(Object(form?.properties)).map(([name, of]) => [name, Object(of)]));
  if (properties.length === 0) return { fields: [{ name: "0", label: "Your answer, as JSON", type: "textarea", rows: 8, required: true }], read: (values) => jsonOf(values[0] ?? "") };
  const required = new Set(Array.isArray(form?.required) ? form.required : []);
  return {
    fields: properties.map(([name, of], at) => fieldOf(String(at), name, of, required.has(name))),
    read: (values) => Object.fromEntries(properties.flatMap(([name, of], at) => {
      const text = values[at] ?? "";
      return text === "" && !(required.has(name) && isPlain(of)) ? [] : [[name, valueOf(text, of, plain(titleOf(name, of)))]];
    })),
  };
}

/** @param {string} name @param {string} property @param {Property} of @param {boolean} isRequired @returns {FieldOf} */
function fieldOf(name, property, of, isRequired) {
  const common = { name, required: isRequired, label: html`<${Called} property=${property} of=${of} />`,
    hint: typeof of.description === "string" && html`<${Said} of=${of.description} />` };
  const choices = choicesOf(of);
  if (choices) {
    const at = choices.findIndex((each) => each === of.default);
    const none = /** @type {[string, any][]} */ (isRequired ? [] : [["", "leave it out"]]);
    return { ...common, type: "radio", options: [...none, ...numbered(choices.map((each, number) => wordOf(of, each, number)))], ...(at < 0 ? isRequired ? {} : { value: "" } : { value: String(at) }) };
  }
  const value = of.default === undefined || of.default === null ? "" : String(of.default);
  if (of.type === "string") return { ...common, type: "textarea", rows: 1, value };
  if (of.type !== "number" && of.type !== "integer") return { ...common, type: "textarea", rows: 4, label: html`${common.label} <span class="faint">as JSON</span>` };
  const [min, max] = [of.minimum, of.maximum].map((each) => (each === undefined ? undefined : String(each)));
  return { ...common, type: "number", value, step: of.type === "integer" ? "1" : "any", ...(min && { min }), ...(max && { max }) };
}

/** @param {string} name @param {Property} of */
const titleOf = (name, of) => (typeof of.title === "string" ? of.title : name);

/** A value is always shown, also where the agent calls it otherwise. @param {Property} of @param {unknown} value @param {number} at */
const wordOf = (of, value, at) => (of.type === "boolean" && !of.enum ? value ? "yes" : "no" : Array.isArray(of.enumNames) && of.enumNames[at] !== undefined ? `${value} (${of.enumNames[at]})` : String(value));

/** What it is called, and the name that the agent gets the answer by. @param {{property: string, of: Property}} props */
const Called = ({ property, of }) => html`<${Said} of=${titleOf(property, of)} />${titleOf(property, of) !== property && html` <span class="faint"><${Said} of=${property} /></span>`}`;

/** @param {{of: Record<string, any>}} props */
export function Asked({ of }) {
  const properties = Object.entries(Object(of.properties));
  return html`${of.title && html`<p><strong><${Said} of=${of.title} /></strong></p>`}${of.description && html`<p><${Said} of=${of.description} /></p>`}
    <ul>${properties.map(([name, each]) => html`<li><${Called} property=${name} of=${Object(each)} />${each?.description && html`: <${Said} of=${each.description} />`}</li>`)}</ul>
    <${Data} of=${of} title="The form, as the agent wrote it" open=${properties.length === 0} />`;
}

/** @param {Property} of @returns {unknown[] | null} */
const choicesOf = (of) => (Array.isArray(of.enum) ? of.enum : of.type === "boolean" ? [true, false] : null);

/** A text that may be empty, and has to be there. @param {Property} of */
const isPlain = (of) => of.type === "string" && !choicesOf(of);

/** @param {string[]} options @returns {[string, any][]} */
const numbered = (options) => options.map((each, at) => [String(at), html`<${Said} of=${each} />`]);

/** @param {string} text @param {Property} of @param {string} title @returns {unknown} */
function valueOf(text, of, title) {
  const choices = choicesOf(of);
  if (choices) return choices[Number(text)];
  if (of.type === "string") {
    const length = [...text].length;
    const [least, most] = [of.minLength ?? 0, of.maxLength ?? Infinity];
    if (length < least || length > most) throw new Error(`It takes ${length < least ? `at least ${least}` : `at most ${most}`} characters, and has ${length}: “${title}”.`);
    return text;
  }
  if (of.type === "integer" && !/^-?\d+$/.test(text.trim())) throw new Error(`It takes a whole number: “${title}”.`);
  return jsonOf(of.type === "number" || of.type === "integer" ? String(text).trim() : text);
}

/** What somebody typed. Numbers keep their spelling. @param {string} text @returns {any} */
export function jsonOf(text) {
  try {
    return parsed(text);
  } catch (error) {
    throw new Error(`It isn't JSON: ${error instanceof Error ? error.message : ""}`);
  }
}

/** @param {string} text @returns {Record<string, unknown>} */
export function argumentsOf(text) {
  const value = jsonOf(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("Arguments are an object of JSON, in braces.");
  return value;
}
