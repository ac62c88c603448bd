import { isMainThread } from 'node:worker_threads';

/**
 * A property that is not decided by then fails with the smallest counter-example so far: making one of
 * hundreds of rows smaller step by step may take hours. The longest property takes about a minute; those of long forms have as
 * long as their files.
 */
const PROPERTY_TIME_MS_MAX = Number(process.env['WEIR_TEST_MINUTES'] ?? 15) * 60_000;

// Worker threads load this too, before they can load TypeScript; they have no properties.
if (isMainThread) {
  const { default: fc } = await import('fast-check');
  // Without it, each run of a commit would try other values, and only the failed property would know which.
  const seed = process.env['WEIR_FUZZ_SEED'];
  if (seed !== undefined)
    fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) | 0 });
  fc.installGlobalPlugin(
    fc.interruptAfterTimeLimit(PROPERTY_TIME_MS_MAX, { failOnInterrupt: true }),
  );
}
