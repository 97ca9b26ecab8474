/** One manual review. */
export { Review as default } from "./reviews.js";
