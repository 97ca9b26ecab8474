/** Every page: its address, its name, its key, its file. docs/console.md says how one is added. */

/** `place` names the group in the navigation; without one a page is reached from another.
 * @typedef {{path: string, title: string, key?: string, place?: "Work" | "Build" | "Watch" | "Workspace", within?: string,
 *   load: () => Promise<{default: any}>}} Page */

/** @type {Page[]} */
export const PAGES = [
  { path: "/approvals", title: "Approvals", key: "a", place: "Work", load: () => import("./pages/approvals.js") },
  { path: "/tasks", title: "Tasks", key: "t", place: "Work", load: () => import("./pages/tasks.js") },
  { path: "/tasks/:id", title: "Task", within: "/tasks", load: () => import("./pages/task.js") },
];

/** Where `#/` leads. */
export const START = "/approvals";
