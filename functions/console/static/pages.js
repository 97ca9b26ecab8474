/** Every page: its address, its name, its key, its file. docs/console.md says how one is added. */

/** `place` names the group in the navigation; without one a page is reached from another.
 * @typedef {{path: string, title: string, key?: string, place?: "Work" | "Build" | "Watch" | "Workspace",
 *   within?: string, load: (query: string) => Promise<{default: any}>, loaded?: any}} Page
 *   `load`: with "" first. A browser keeps a file that it couldn't fetch as failed, so each retry is another address.
 *   `loaded`: what its file has, once it is there */

/** @type {Page[]} */
export const PAGES = [
  { path: "/start", title: "Start", key: "s", place: "Work", load: (q) => import("./pages/start.js" + q) },
  { path: "/approvals", title: "Approvals", key: "a", place: "Work", load: (q) => import("./pages/approvals.js" + q) },
  { path: "/standing-answers", title: "Standing answers", key: "y", within: "/approvals",
    load: (q) => import("./pages/standing.js" + q) },
  { path: "/tasks", title: "Tasks", key: "t", place: "Work", load: (q) => import("./pages/tasks.js" + q) },
  { path: "/tasks/:id", title: "Task", within: "/tasks", load: (q) => import("./pages/task.js" + q) },
  { path: "/handoffs/:id", title: "Handoff", within: "/tasks", load: (q) => import("./pages/handoff.js" + q) },
  { path: "/new-handoff", title: "New handoff", key: "h", within: "/tasks",
    load: (q) => import("./pages/new_handoff.js" + q) },
  { path: "/search", title: "Search", key: "f", within: "/tasks", load: (q) => import("./pages/search.js" + q) },
  { path: "/chat", title: "Chat", key: "c", place: "Work", load: (q) => import("./pages/chat.js" + q) },
  { path: "/chat/:id", title: "Conversation", within: "/chat", load: (q) => import("./pages/conversation.js" + q) },
  { path: "/tools", title: "Tools", key: "o", place: "Build", load: (q) => import("./pages/tools.js" + q) },
  { path: "/tools/:name", title: "Tool", within: "/tools", load: (q) => import("./pages/tool.js" + q) },
  { path: "/new-tool", title: "New tool", within: "/tools", load: (q) => import("./pages/tool.js" + q) },
  { path: "/routes", title: "Routes", key: "u", place: "Build", load: (q) => import("./pages/routes.js" + q) },
  { path: "/stats", title: "How it goes", key: "i", place: "Watch", load: (q) => import("./pages/stats.js" + q) },
  { path: "/decisions", title: "Decisions", key: "v", place: "Watch", load: (q) => import("./pages/decisions.js" + q) },
  { path: "/agents", title: "Agents", key: "w", place: "Watch", load: (q) => import("./pages/agents.js" + q) },
  { path: "/agents/:slug", title: "Agent", within: "/agents", load: (q) => import("./pages/agent.js" + q) },
  { path: "/agents/:slug/change", title: "Change an agent", within: "/agents",
    load: (q) => import("./pages/edit_agent.js" + q) },
  { path: "/new-agent", title: "New agent", within: "/agents", load: (q) => import("./pages/edit_agent.js" + q) },
  { path: "/directions", title: "Directions", key: "d", place: "Watch",
    load: (q) => import("./pages/directions.js" + q) },
  { path: "/reviews", title: "Manual reviews", key: "r", place: "Watch",
    load: (q) => import("./pages/reviews.js" + q) },
  { path: "/reviews/:id", title: "Manual review", within: "/reviews", load: (q) => import("./pages/review.js" + q) },
  { path: "/alerts", title: "Alerts", key: "l", place: "Watch", load: (q) => import("./pages/alerts.js" + q) },
  { path: "/memory", title: "Memory", key: "m", place: "Watch", load: (q) => import("./pages/memory.js" + q) },
  { path: "/memory/:id", title: "Entry", within: "/memory", load: (q) => import("./pages/entry.js" + q) },
  { path: "/settings", title: "Settings", key: "e", place: "Workspace",
    load: (q) => import("./pages/settings.js" + q) },
  { path: "/changes", title: "Changes", key: "b", place: "Workspace", load: (q) => import("./pages/changes.js" + q) },
  { path: "/tracker", title: "Tracker", key: "p", place: "Workspace", load: (q) => import("./pages/tracker.js" + q) },
  { path: "/notifications", title: "Notifications", place: "Workspace", load: (q) => import("./pages/told.js" + q) },
  { path: "/display", title: "Display", key: "z", place: "Workspace", load: (q) => import("./pages/display.js" + q) },
  { path: "/tokens", title: "Tokens", key: "k", place: "Workspace", load: (q) => import("./pages/tokens.js" + q) },
  { path: "/people/:name", title: "Approvals of a person", within: "/tokens",
    load: (q) => import("./pages/person.js" + q) },
];

/** Where `#/` leads. */
export const START = "/start";
