/** The libraries, named once. Modules import from here, never from vendor/. */
import { h, render, Fragment } from "./vendor/preact.js";
import { useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useId } from "./vendor/hooks.js";
import { signal, computed, effect, batch, useSignal, useComputed } from "./vendor/signals.js";
import htm from "./vendor/htm.js";

/** Tagged template: `html`<${Part} of=${x} />``. Values become text nodes or properties, never markup. */
export const html = htm.bind(h);
export { h, render, Fragment };
export { useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useId };
export { signal, computed, effect, batch, useSignal, useComputed };
