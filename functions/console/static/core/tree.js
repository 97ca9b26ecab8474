/** Questions about a chain. */

/** @typedef {import("api").ChainNode} ChainNode */

const OPEN = new Set(["needs", "delegated", "next", "claimed", "waiting"]);

/** @param {string} state */
export const isOpen = (state) => OPEN.has(state);

/** Every node, parents first. @param {ChainNode[]} nodes @returns {ChainNode[]} */
export function flat(nodes) {
  return nodes.flatMap((node) => [node, ...flat(node.children)]);
}

/** What came of a task. @param {{nodes: ChainNode[]} | null} chain @param {string} id @returns {ChainNode[]} */
export function below(chain, id) {
  const found = flat(chain?.nodes ?? []).find((node) => node.task_id === id);
  return found ? flat(found.children) : [];
}

/** @param {{nodes: ChainNode[]} | null} chain @param {string} id of a task, or of its handoff */
export const nodeOf = (chain, id) =>
  flat(chain?.nodes ?? []).find((node) => node.task_id === id || node.handoff_id === id) ?? null;

/** From the beginning to a task. @param {ChainNode[]} nodes @param {string} id @returns {ChainNode[]} */
export function wayTo(nodes, id) {
  for (const node of nodes) {
    const rest = node.task_id === id ? [] : wayTo(node.children, id);
    if (node.task_id === id || rest.length > 0) return [node, ...rest];
  }
  return [];
}

/** A task and those that it tries again, the first one first.
 * @param {{nodes: ChainNode[]} | null} chain @param {string} id @returns {ChainNode[]} */
export function triesOf(chain, id) {
  const node = nodeOf(chain, id);
  if (!node) return [];
  return node.retry_of ? [...triesOf(chain, node.retry_of), node] : [node];
}
