import type { Random } from '../../src/demo/traffic/random.ts';

const SECOND_US = 1_000_000;
const MINUTE_US = 60 * SECOND_US;
const HOUR_US = 60 * MINUTE_US;
const DAY_US = 24 * HOUR_US;

const STEPS_US = [SECOND_US, MINUTE_US, HOUR_US, DAY_US];
const WINDOWS_US = [0, 5 * MINUTE_US, 15 * MINUTE_US, HOUR_US, DAY_US, 7 * DAY_US, 90 * DAY_US];

/** A moment of the day of `dayUs` for the clock to stand at: often on an edge of a bucket itself. */
export function randomNow(random: Random, dayUs: number): number {
  const step = random.pick(STEPS_US);
  const us = dayUs + 12 * HOUR_US + random.below(12 * HOUR_US);
  return random.pick([
    dayUs + 12 * HOUR_US,
    us,
    Math.floor(us / step) * step + random.below(3) - 1,
  ]);
}

/** A time an event may have at `nowUs`: mostly on an edge of a window or bucket, or beside one. */
export function randomTime(random: Random, nowUs: number): number {
  const window = random.pick(WINDOWS_US);
  const step = random.pick(STEPS_US);
  const edges = [
    nowUs - window,
    Math.floor((nowUs - window) / step) * step,
    Math.floor((nowUs - random.below(window + 1)) / step) * step,
    Math.floor(nowUs / step) * step + step,
    nowUs - random.below(window + 1),
    nowUs + random.below(HOUR_US),
  ];
  const us = random.pick(edges) + random.below(3) - 1;
  return Math.min(Math.max(us, nowUs - 90 * DAY_US), nowUs + HOUR_US);
}

/** The time in one of the forms an event may give it in; `undefined` leaves it out, for `nowUs`. */
export function randomTimeForm(random: Random, timeUs: number, nowUs: number): unknown {
  const nanoseconds = BigInt(timeUs) * 1000n + BigInt(random.below(1000));
  const forms: unknown[] = [
    `${isoText(timeUs, 0)}Z`,
    `${isoText(timeUs, 0)}+00:00`,
    isoText(timeUs, 0),
    isoText(timeUs, 0).replace('T', ' '),
    `${isoText(timeUs, 0)}${random.below(1000).toString().padStart(3, '0')}Z`,
    `${isoText(timeUs, 330)}+05:30`,
    `${isoText(timeUs, -210)}-03:30`,
    timeUs,
    String(timeUs),
    nanoseconds,
    String(nanoseconds),
  ];
  if (timeUs % 1000 === 0) forms.push(timeUs / 1000, String(timeUs / 1000));
  if (timeUs % 250 === 0) forms.push(timeUs / 1000);
  if (timeUs % SECOND_US === 0) forms.push(timeUs / SECOND_US, isoText(timeUs, 0).slice(0, 19));
  if (timeUs % 250_000 === 0) forms.push(timeUs / SECOND_US);
  if (timeUs === nowUs) forms.push(undefined, null, 'at noon', 12, true);
  return random.pick(forms);
}

/** ISO 8601 to the microsecond, without an offset, as a clock `aheadMinutes` ahead of UTC shows it. */
function isoText(timeUs: number, aheadMinutes: number): string {
  const localUs = timeUs + aheadMinutes * MINUTE_US;
  const second = new Date(Math.floor(localUs / SECOND_US) * 1000).toISOString().slice(0, 19);
  return `${second}.${String(localUs % SECOND_US).padStart(6, '0')}`;
}
