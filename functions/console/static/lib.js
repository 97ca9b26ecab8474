/** The libraries, named once. Modules import from here, never from vendor/. */
import { h, render, Fragment } from "./vendor/preact.js";
import { useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useId } from "./vendor/hooks.js";
import { signal, computed, effect, batch, useSignal, useComputed } from "./vendor/signals.js";
import htm from "./vendor/htm.js";

/** Tagged template: `html`<${Part} of=${x} />``. Values become text nodes or properties, never markup. Each element is
 * new each time: htm gives one without values again where its first entry doesn't say that it has some (3). It would
 * hold the tree that it was drawn in first, and that tree, by such elements of its own, all before it. */
export const html = htm.bind(/** @this {any} @param {any[]} of @returns {any} */ function make(...of) {
  this[0] = 3;
  return h(.../** @type {[any, any]} */ (of));
});

/** A part that is drawn anew only when one of its properties has changed.
 * @template P @param {(props: P) => any} part */
export const memo = (part) => /** @this {any} @param {any} props */ function Memo(props) {
  this.shouldComponentUpdate = (/** @type {any} */ next) => Object.keys({ ...next, ...this.props }).some(
    (name) => next[name] !== this.props[name]);
  return h(part, props);
};
export { h, render, Fragment };
export { useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useId };
export { signal, computed, effect, batch, useSignal, useComputed };
