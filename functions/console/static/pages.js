/** Every page: its address, its name, its key, its file. docs/console.md says how one is added. */

/** `place` names the group in the navigation; without one a page is reached from another.
 * @typedef {{path: string, title: string, key?: string, place?: "Work" | "Build" | "Watch" | "Workspace",
 *   within?: string, load: () => Promise<{default: any}>, loaded?: any}} Page
 *   `loaded`: what its file has, once it is there */

/** @type {Page[]} */
export const PAGES = [
  { path: "/start", title: "Start", key: "s", place: "Work", load: () => import("./pages/start.js") },
  { path: "/approvals", title: "Approvals", key: "a", place: "Work", load: () => import("./pages/approvals.js") },
  { path: "/standing-answers", title: "Standing answers", key: "y", within: "/approvals",
    load: () => import("./pages/standing.js") },
  { path: "/tasks", title: "Tasks", key: "t", place: "Work", load: () => import("./pages/tasks.js") },
  { path: "/tasks/:id", title: "Task", within: "/tasks", load: () => import("./pages/task.js") },
  { path: "/handoffs/:id", title: "Handoff", within: "/tasks", load: () => import("./pages/handoff.js") },
  { path: "/new-handoff", title: "New handoff", key: "h", within: "/tasks",
    load: () => import("./pages/new_handoff.js") },
  { path: "/search", title: "Search", key: "f", within: "/tasks", load: () => import("./pages/search.js") },
  { path: "/chat", title: "Chat", key: "c", place: "Work", load: () => import("./pages/chat.js") },
  { path: "/chat/:id", title: "Conversation", within: "/chat", load: () => import("./pages/conversation.js") },
  { path: "/tools", title: "Tools", key: "o", place: "Build", load: () => import("./pages/tools.js") },
  { path: "/tools/:name", title: "Tool", within: "/tools", load: () => import("./pages/tool.js") },
  { path: "/new-tool", title: "New tool", within: "/tools", load: () => import("./pages/tool.js") },
  { path: "/routes", title: "Routes", key: "u", place: "Build", load: () => import("./pages/routes.js") },
  { path: "/stats", title: "How it goes", key: "i", place: "Watch", load: () => import("./pages/stats.js") },
  { path: "/decisions", title: "Decisions", key: "v", place: "Watch", load: () => import("./pages/decisions.js") },
  { path: "/agents", title: "Agents", key: "w", place: "Watch", load: () => import("./pages/agents.js") },
  { path: "/agents/:slug", title: "Agent", within: "/agents", load: () => import("./pages/agent.js") },
  { path: "/agents/:slug/change", title: "Change an agent", within: "/agents",
    load: () => import("./pages/edit_agent.js") },
  { path: "/new-agent", title: "New agent", within: "/agents", load: () => import("./pages/edit_agent.js") },
  { path: "/directions", title: "Directions", key: "d", place: "Watch", load: () => import("./pages/directions.js") },
  { path: "/reviews", title: "Manual reviews", key: "r", place: "Watch", load: () => import("./pages/reviews.js") },
  { path: "/reviews/:id", title: "Manual review", within: "/reviews", load: () => import("./pages/review.js") },
  { path: "/alerts", title: "Alerts", key: "l", place: "Watch", load: () => import("./pages/alerts.js") },
  { path: "/memory", title: "Memory", key: "m", place: "Watch", load: () => import("./pages/memory.js") },
  { path: "/memory/:id", title: "Entry", within: "/memory", load: () => import("./pages/entry.js") },
  { path: "/settings", title: "Settings", key: "e", place: "Workspace", load: () => import("./pages/settings.js") },
  { path: "/tracker", title: "Tracker", key: "p", place: "Workspace", load: () => import("./pages/tracker.js") },
  { path: "/notifications", title: "Notifications", place: "Workspace", load: () => import("./pages/told.js") },
  { path: "/display", title: "Display", key: "z", place: "Workspace", load: () => import("./pages/display.js") },
  { path: "/tokens", title: "Tokens", key: "k", place: "Workspace", load: () => import("./pages/tokens.js") },
];

/** Where `#/` leads. */
export const START = "/start";
