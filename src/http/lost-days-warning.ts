const DAY_MS = 86_400_000;

/** The newest days that a warning names, so that the header stays short. */
const LOST_DAYS_LISTED_MAX = 20;

/** Warnings that an answer lacks rows: one sentence with the days, or none. `days`: UTC days since the epoch, ascending. */
export function lostDaysWarnings(days: readonly number[]): readonly string[] {
  if (days.length === 0) return [];
  const listed = days.slice(-LOST_DAYS_LISTED_MAX).map(dateText).join(', ');
  const left = days.length - LOST_DAYS_LISTED_MAX;
  const others = left > 0 ? ` and ${left} earlier days` : '';
  return [`rows or values are missing, because stored logs were damaged, of ${listed}${others}`];
}

function dateText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
