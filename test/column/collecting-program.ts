/**
 * Has garbage collected beside other work, and V8 never reports the end. Prints the milliseconds in which the end was
 * looked for, and how many collections at once followed.
 */
import { syncBuiltinESMExports } from 'node:module';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import timers from 'node:timers/promises';

const { NODE_PERFORMANCE_GC_FLAGS_FORCED: FORCED, NODE_PERFORMANCE_GC_MAJOR: MAJOR } = constants;

/** Node has the details, the types that we use do not. */
type CollectionEntry = { readonly detail: { readonly kind: number; readonly flags: number } };

const { setTimeout: wait } = timers;
let lookedMs = 0;
timers.setTimeout = (async (ms: number) => {
  lookedMs += ms;
}) as typeof wait;
syncBuiltinESMExports();
globalThis.FinalizationRegistry = class {
  register(): void {}
} as unknown as typeof FinalizationRegistry;
let forcedCount = 0;
const observer = new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const { kind, flags } = (entry as unknown as CollectionEntry).detail;
    if (kind === MAJOR && (flags & FORCED) !== 0) forcedCount += 1;
  }
});
observer.observe({ entryTypes: ['gc'] });
const { collectGarbageBeside } = await import('../../engine/column/garbage.ts');
await collectGarbageBeside();
await wait(50);
console.log(`${lookedMs} ms, ${forcedCount} at once`);
