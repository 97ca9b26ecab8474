/** Files that are made in the page: honest CSV and JSON. */

const BOM = "\ufeff"; // a spreadsheet takes it for UTF-8 then
/** What a spreadsheet would run as a formula, tabs and line ends before it included. */
const FORMULA = /^[\s]*[=+\-@\t\r]/;

/** A quote before what looks like a formula keeps it a text. A number stays one. @param {unknown} value */
function cell(value) {
  const text = value === null || value === undefined ? ""
    : typeof value === "object" ? JSON.stringify(value) : String(value);
  const safe = typeof value !== "number" && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** @param {string[]} columns @param {Record<string, any>[]} rows */
export function csv(columns, rows) {
  const lines = [columns, ...rows.map((row) => columns.map((name) => row[name]))];
  return `${BOM}${lines.map((line) => line.map(cell).join(",")).join("\r\n")}\r\n`;
}

/** @param {string} name @param {string} text @param {string} type */
export function save(name, text, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name.replaceAll(/[^A-Za-z0-9._-]+/g, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** @param {string} name @param {unknown} value */
export const saveJson = (name, value) => save(name, `${JSON.stringify(value, null, 2)}\n`, "application/json");

/** @param {string} name @param {string[]} columns @param {Record<string, any>[]} rows */
export const saveCsv = (name, columns, rows) => save(name, csv(columns, rows), "text/csv");
