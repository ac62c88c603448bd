import { must } from '../../engine/assert.ts';
import { NOW_US } from './clock.ts';

const SECOND_US = 1_000_000;
const MINUTE_US = 60 * SECOND_US;
const DAY_US = 86_400 * SECOND_US;
const SPAN_US = 7 * DAY_US;

/** Much of a page's reading is of what came just now, so the last minutes are dense. */
const LAST_HOUR_SHARE = 0.03;
const LAST_MINUTES_SHARE = 0.005;
const LAST_MINUTES_US = 5 * MINUTE_US;

/** The rhythm of a day is a wave in steps of so much. */
const STEP_US = 10 * MINUTE_US;

/** From the least busy moment of a day to its mean, as a share of the mean. */
const WAVE = 0.6;

/** In `[start, end)` come events until `shareEnd` of all have come, evenly. */
type Stretch = { readonly startUs: number; readonly endUs: number; readonly shareEnd: number };

const STRETCHES = stretches();

/**
 * The times of so many events of the week before NOW, in order: busy days and quiet nights, and 3 %
 * within the last hour, 0.5 % within the last five minutes.
 */
export class Timeline {
  readonly #eventCount: number;
  #done = 0;
  #stretch = 0;

  constructor(eventCount: number) {
    this.#eventCount = eventCount;
  }

  /** Microseconds since the epoch. `chance` in [0, 1) says where in its own share of time it lies. */
  nextUs(chance: number): number {
    const share = (this.#done++ + chance) / this.#eventCount;
    while (share >= STRETCHES[this.#stretch]!.shareEnd && this.#stretch + 1 < STRETCHES.length) {
      this.#stretch++;
    }
    const { startUs, endUs, shareEnd } = STRETCHES[this.#stretch]!;
    const shareStart = this.#stretch === 0 ? 0 : STRETCHES[this.#stretch - 1]!.shareEnd;
    const part = (share - shareStart) / (shareEnd - shareStart);
    return Math.min(Math.floor(startUs + part * (endUs - startUs)), endUs - 1);
  }
}

function stretches(): readonly Stretch[] {
  const hourUs = NOW_US - 60 * MINUTE_US;
  const minutesUs = NOW_US - LAST_MINUTES_US;
  const waves: { startUs: number; endUs: number; weight: number }[] = [];
  for (let startUs = NOW_US - SPAN_US; startUs < hourUs; startUs += STEP_US) {
    const endUs = Math.min(startUs + STEP_US, hourUs);
    const turn = ((startUs % DAY_US) / DAY_US) * 2 * Math.PI;
    // Least at four in the morning.
    const weight = (endUs - startUs) * (1 - WAVE * Math.cos(turn - Math.PI / 3));
    waves.push({ startUs, endUs, weight });
  }
  const total = waves.reduce((sum, { weight }) => sum + weight, 0);
  let share = 0;
  const week = waves.map(({ startUs, endUs, weight }) => {
    share += (weight / total) * (1 - LAST_HOUR_SHARE);
    return { startUs, endUs, shareEnd: share };
  });
  const last = must(week.at(-1), 'a week has stretches');
  return [
    ...week.slice(0, -1),
    { ...last, shareEnd: 1 - LAST_HOUR_SHARE },
    { startUs: hourUs, endUs: minutesUs, shareEnd: 1 - LAST_MINUTES_SHARE },
    { startUs: minutesUs, endUs: NOW_US, shareEnd: 1 },
  ];
}
