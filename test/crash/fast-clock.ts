/** How much faster than the machine's the clock of a killed service runs: a day takes 9 s. */
const SPEED = 10_000;

const START_US = Date.parse('2026-01-15T00:00:00Z') * 1000;

/** A clock that has run since `sinceMs`, milliseconds since the epoch; the same in every process. */
export function fastNowUs(sinceMs: number): number {
  return START_US + Math.floor((Date.now() - sinceMs) * 1000) * SPEED;
}
