/** Views of the list that everybody has. Those that people save are kept by the API (ui/saved.js). */

/** @type {{name: string, query: Record<string, string>}[]} */
export const VIEWS = [
  { name: "Today", query: {} },
  { name: "To approve", query: { state: "needs" } },
  { name: "Under way", query: { state: "delegated,next,claimed,waiting" } },
  { name: "Flagged", query: { flagged: "1" } },
  { name: "Went wrong", query: { state: "failed,rejected" } },
  { name: "Done", query: { state: "done" } },
];
