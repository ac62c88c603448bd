import { QueryError } from '../../query-error.ts';
import type { Constants } from '../function-facts.ts';
import type { Int64 } from '../number/int64.ts';
import { addInt64, floorDivide, subtractInt64 } from '../number/int64.ts';
import {
  checkedTimestampUs,
  US_PER_DAY,
  US_PER_HOUR,
  US_PER_MINUTE,
  US_PER_SECOND,
} from './calendar.ts';

/** Time zones kept, by name. There are about 600. */
const TIME_ZONES_MAX = 1024;

/** Hours whose offset a time zone remembers: asking Intl costs microseconds. Nearly a year. */
const ZONE_SLOTS_MAX = 8192;

/** How far the clocks of a place are ahead of UTC. */
export interface TimeZone {
  /** Whether the offset is 0 at all times. */
  readonly isUtc: boolean;
  /** Microseconds ahead of UTC at an instant. */
  offsetUs(instantUs: Int64): number;
}

export const UTC: TimeZone = { isUtc: true, offsetUs: () => 0 };

export const UTC_NAMES: ReadonlySet<string> = new Set([
  'utc',
  'z',
  'gmt',
  'etc/utc',
  'etc/gmt',
  'zulu',
  'utc+0',
]);
/** Whether the argument of a call at `index`, a zone, is left out or is UTC. */
export function isUtcAt(index: number, constants: Constants): boolean {
  const zone = constants[index];
  return (
    index >= constants.length || (typeof zone === 'string' && UTC_NAMES.has(zone.toLowerCase()))
  );
}

const OFFSET = /^(?:UTC)?([+-])(?:(\d{2})(\d{2})|(\d{1,2})(?::(\d{1,2}))?)$/;
const OFFSET_HOURS_MAX = 14;

/** To be said of a text with a space where an offset has its plus: a query string makes one of the other. */
export const PLUS_HINT = ' (in a URL the sign + of an offset is written %2B)';

const zones = new Map<string, TimeZone>();

/** `UTC`, an offset such as `+01:00`, or a place such as `Europe/Paris`; throws for others. */
export function mustTimeZone(name: string): TimeZone {
  if (UTC_NAMES.has(name.toLowerCase())) return UTC;
  const known = zones.get(name);
  if (known !== undefined) return known;
  const zone = fixedZone(name) ?? placeZone(name);
  if (zone === undefined) {
    const hint = fixedZone(name.replace(/^ /, '+')) === undefined ? '' : PLUS_HINT;
    throw new QueryError(
      'query_failed',
      `time zone must be UTC, an offset such as +01:00 or a place such as Europe/Paris; got ${JSON.stringify(name.slice(0, 64))}${hint}`,
    );
  }
  if (zones.size >= TIME_ZONES_MAX) zones.clear();
  zones.set(name, zone);
  return zone;
}

/** The same; UTC when no name is given. */
export function zoneNamed(name: string | undefined): TimeZone {
  return name === undefined ? UTC : mustTimeZone(name);
}

function fixedZone(name: string): TimeZone | undefined {
  const match = OFFSET.exec(name);
  if (match === null) return undefined;
  const hours = Number(match[2] ?? match[4]);
  const minutes = Number(match[3] ?? match[5] ?? 0);
  if (minutes > 59 || hours * 60 + minutes > OFFSET_HOURS_MAX * 60) return undefined;
  const aheadUs = hours * US_PER_HOUR + minutes * US_PER_MINUTE;
  const offsetUs = match[1] === '-' ? 0 - aheadUs : aheadUs;
  return { isUtc: offsetUs === 0, offsetUs: () => offsetUs };
}

function placeZone(name: string): TimeZone | undefined {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{1,63}$/.test(name)) return undefined;
  try {
    return new PlaceZone(name);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A place of the time zone database, as Intl knows it. */
class PlaceZone implements TimeZone {
  readonly isUtc = false;
  readonly #format: Intl.DateTimeFormat;
  /** Offset during each hour since the epoch that was asked for and has but one. */
  readonly #hours = new Map<number, number>();

  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  }

  offsetUs(instantUs: Int64): number {
    const second = Number(floorDivide(BigInt(instantUs), BigInt(US_PER_SECOND)));
    const hour = Math.floor(second / 3600);
    const known = this.#hours.get(hour);
    if (known !== undefined) return known;
    const offset = this.#offsetAt(hour * 3600);
    // Clocks do not change twice within an hour.
    if (offset !== this.#offsetAt(hour * 3600 + 3599)) return this.#offsetAt(second);
    if (this.#hours.size >= ZONE_SLOTS_MAX) this.#hours.clear();
    this.#hours.set(hour, offset);
    return offset;
  }

  /** Reads the offset out of text such as `1/15/2026, GMT-04:56:02`. */
  #offsetAt(second: number): number {
    const parts = this.#format.formatToParts(second * 1000);
    const text = parts.find((part) => part.type === 'timeZoneName')?.value ?? '';
    const match = /^GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(text);
    if (match === null)
      throw new Error(`time zone offset ${JSON.stringify(text)} is not understood`);
    const aheadUs =
      Number(match[2] ?? 0) * US_PER_HOUR +
      Number(match[3] ?? 0) * US_PER_MINUTE +
      Number(match[4] ?? 0) * US_PER_SECOND;
    return match[1] === '-' ? 0 - aheadUs : aheadUs;
  }
}

/** What clocks of the zone show at an instant, as a DATETIME. */
export function localUs(instantUs: Int64, zone: TimeZone): Int64 {
  if (zone.isUtc) return instantUs;
  return checkedTimestampUs(addInt64(instantUs, zone.offsetUs(instantUs)));
}

/**
 * When clocks of the zone show a DATETIME. One shown twice means the first time; one that is
 * skipped is read with the offset before the gap.
 */
export function instantUs(local: Int64, zone: TimeZone): Int64 {
  if (zone.isUtc) return local;
  const before = zone.offsetUs(subtractInt64(local, US_PER_DAY));
  const first = subtractInt64(local, before);
  if (zone.offsetUs(first) === before) return checkedTimestampUs(first);
  const after = zone.offsetUs(addInt64(local, US_PER_DAY));
  const second = subtractInt64(local, after);
  return checkedTimestampUs(zone.offsetUs(second) === after ? second : first);
}
