/** What a person fills in to answer: fields of a question's kind, and the answer that they make. */
import { html } from "../../lib.js";
import { parsed } from "../../core/json.js";
import { plain } from "../../core/said.js";
import { Data, Said } from "../../ui/parts.js";

/** @typedef {import("../../ui/ask.js").FieldOf} FieldOf */
/** @typedef {{fields: FieldOf[], read: (values: Record<string, string>) => unknown}} Form */
/** A property of a form's flat JSON Schema.
 * @typedef {{type?: unknown, enum?: unknown, enumNames?: unknown, title?: unknown, description?: unknown,
 *   format?: unknown, default?: unknown, minLength?: number, maxLength?: number, minimum?: number,
 *   maximum?: number}} Property */

/** Names of fields are numbers: what an agent calls them names nothing of the page.
 * @param {import("./list.js").Question} question @returns {Form} */
export function formOf({ kind, options, form }) {
  const one = { name: "0", label: "Your answer", required: true };
  if (kind === "choice") {
    const fields = [{ ...one, type: "radio", options: numbered(options) }];
    return { fields, read: (values) => options[Number(values[0])] };
  }
  if (kind === "text") return { fields: [{ ...one, type: "textarea" }], read: (values) => values[0] };
  const properties = propertiesOf(form);
  const required = new Set(Array.isArray(form?.required) ? form.required : []);
  return {
    fields: properties.map(([name, of], at) => fieldOf(String(at), name, of, required.has(name))),
    read: (values) => Object.fromEntries(properties.flatMap(([name, of], at) => {
      const text = values[at] ?? "";
      const isLeftOut = text === "" && !(required.has(name) && isPlain(of));
      return isLeftOut ? [] : [[name, valueOf(text, of, plain(titleOf(name, of)))]];
    })),
  };
}

/** @param {Record<string, any> | null} form @returns {[string, Property][]} */
const propertiesOf = (form) => Object.entries(Object(form?.properties)).map(([name, of]) => [name, Object(of)]);

/** Types of input by a string's format. @type {Record<string, string | undefined>} */
const TYPES_BY_FORMAT = { date: "date", email: "email", uri: "url" };

/** @param {string} name @param {string} property @param {Property} of @param {boolean} isRequired @returns {FieldOf} */
function fieldOf(name, property, of, isRequired) {
  const hint = typeof of.description === "string" && html`<${Said} of=${of.description} />`;
  const common = { name, required: isRequired, label: html`<${Called} property=${property} of=${of} />`, hint };
  const choices = choicesOf(of);
  if (choices) return { ...common, type: "radio", ...chosenOf(of, choices, isRequired) };
  const value = of.default === undefined || of.default === null ? "" : String(of.default);
  const type = TYPES_BY_FORMAT[String(of.format)];
  if (type) return { ...common, type, value };
  if (of.type !== "number" && of.type !== "integer") return { ...common, type: "textarea", rows: 1, value };
  const [min, max] = [of.minimum, of.maximum].map((each) => (each === undefined ? undefined : String(each)));
  const step = of.type === "integer" ? "1" : "any";
  return { ...common, type: "number", value, step, ...(min && { min }), ...(max && { max }) };
}

/** @param {Property} of @param {unknown[]} choices @param {boolean} isRequired */
function chosenOf(of, choices, isRequired) {
  const options = numbered(choices.map((each, at) => wordOf(of, each, at)));
  const at = choices.findIndex((each) => each === of.default);
  if (at >= 0) return { options: isRequired ? options : [LEFT_OUT, ...options], value: String(at) };
  return isRequired ? { options } : { options: [LEFT_OUT, ...options], value: "" };
}

const LEFT_OUT = /** @type {[string, any]} */ (["", "leave it out"]);

/** A value is always shown, also where the agent calls it otherwise.
 * @param {Property} of @param {unknown} value @param {number} at */
function wordOf(of, value, at) {
  if (of.type === "boolean" && !of.enum) return value ? "yes" : "no";
  const name = Array.isArray(of.enumNames) ? of.enumNames[at] : undefined;
  return name === undefined ? String(value) : `${value} (${name})`;
}

/** @param {Record<string, any>} of a form: what it asks for @returns {any} */
export function asksFor(of) {
  const properties = propertiesOf(of);
  return html`${of.title && html`<p><strong><${Said} of=${of.title} /></strong></p>`}
    ${of.description && html`<p><${Said} of=${of.description} /></p>`}
    <ul>${properties.map(([name, each]) => html`<li key=${name}>
      <${Called} property=${name} of=${each} />
      ${each.description && html`: <${Said} of=${each.description} />`}
    </li>`)}</ul>
    <${Data} of=${of} title="The form, as the agent wrote it" open=${properties.length === 0} />`;
}

/** What it is called, and the name that the agent gets the answer by.
 * @param {{property: string, of: Property}} props */
function Called({ property, of }) {
  const title = titleOf(property, of);
  const also = title !== property && html` <span class="faint"><${Said} of=${property} /></span>`;
  return html`<${Said} of=${title} />${also}`;
}

/** @param {string} name @param {Property} of */
const titleOf = (name, of) => (typeof of.title === "string" ? of.title : name);

/** @param {Property} of @returns {unknown[] | null} */
const choicesOf = (of) => (Array.isArray(of.enum) ? of.enum : of.type === "boolean" ? [true, false] : null);

/** A text that may be empty, and has to be there. @param {Property} of */
const isPlain = (of) => of.type === "string" && !choicesOf(of);

/** @param {string[]} options @returns {[string, any][]} */
const numbered = (options) => options.map((each, at) => [String(at), html`<${Said} of=${each} />`]);

/** A field takes `.5` and `05` as well. */
const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/;

/** @param {string} text @param {Property} of @param {string} title @returns {unknown} */
function valueOf(text, of, title) {
  const choices = choicesOf(of);
  if (choices) return choices[Number(text)];
  if (of.type === "number" || of.type === "integer") {
    if (of.type === "integer" && !/^-?\d+$/.test(text)) throw new Error(`It takes a whole number: “${title}”.`);
    return JSON_NUMBER.test(text) ? parsed(text) : Number(text);
  }
  const [length, least, most] = [[...text].length, of.minLength ?? 0, of.maxLength ?? Infinity];
  if (length >= least && length <= most) return text;
  const bound = length < least ? `at least ${least}` : `at most ${most}`;
  throw new Error(`It takes ${bound} characters, and has ${length}: “${title}”.`);
}

/** What somebody typed. Numbers keep their spelling. @param {string} text @returns {any} */
function jsonOf(text) {
  try {
    return parsed(text);
  } catch (error) {
    throw new Error(`It isn't JSON: ${error instanceof Error ? error.message : ""}`);
  }
}

/** @param {string} text @returns {Record<string, unknown>} */
export function argumentsOf(text) {
  const value = jsonOf(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new Error("Arguments are an object of JSON, in braces.");
}
