import fc from 'fast-check';

/**
 * A property that is not decided by then fails with the smallest counter-example so far: making one of
 * hundreds of rows smaller step by step may take hours. The longest property takes about a minute.
 */
const PROPERTY_TIME_MS_MAX = 15 * 60_000;

fc.installGlobalPlugin(fc.interruptAfterTimeLimit(PROPERTY_TIME_MS_MAX, { failOnInterrupt: true }));
