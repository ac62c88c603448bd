/** The zone in which times are shown and typed. */
export type Zone = 'UTC' | 'local';

export type TimeParts = { readonly date: string; readonly clock: string };

/** `2026-01-15` and `12:00:00.123` of microseconds since the epoch. */
export function formatParts(us: number, zone: Zone): TimeParts {
  const text = isoText(us, zone);
  return { date: text.slice(0, 10), clock: text.slice(11, 23) };
}

/** `2026-01-15 12:00:00`, with a fraction if it has one. */
export function formatMoment(us: number, zone: Zone): string {
  return isoText(us, zone)
    .replace('T', ' ')
    .replace(/\.?0+$/, '');
}

/** Formats a time for the service: `2026-01-15T12:00:00.123456Z`. */
export function formatIso(us: number): string {
  return `${isoText(us, 'UTC')}Z`;
}

/** With six digits of a fraction. */
function isoText(us: number, zone: Zone): string {
  const ms = Math.floor(us / 1e3);
  const offsetMs = zone === 'UTC' ? 0 : new Date(ms).getTimezoneOffset() * 60_000;
  const micros = String(us - ms * 1e3).padStart(3, '0');
  return `${new Date(ms - offsetMs).toISOString().slice(0, 23)}${micros}`;
}

/**
 * A time as a person types it, for the service: `-3h` and `now` as they are, dates and times in the zone that is shown.
 * The service says what is wrong with anything else.
 */
export function parseTyped(text: string, zone: Zone): string {
  const typed = text.trim().replace(/^(\d{4}-\d\d-\d\d) /, '$1T');
  const isOfZone = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?$/.test(typed);
  if (!isOfZone || zone === 'UTC') return typed;
  // A date alone would be one in UTC.
  const date = new Date(typed.includes('T') ? typed : `${typed}T00:00`);
  return Number.isNaN(date.getTime()) ? typed : date.toISOString();
}

/** A time of the address as it is shown in a field: what is relative stays so. */
export function formatTyped(text: string, zone: Zone): string {
  const ms = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) || zone === 'UTC'
    ? text.replace('T', ' ').replace(/(?:\.0+)?Z$/, '')
    : formatMoment(ms * 1e3, zone);
}
