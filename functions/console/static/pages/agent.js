/** One agent. */
export { Agent as default } from "./agents.js";
