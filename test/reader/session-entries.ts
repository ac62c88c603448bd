import { type JsonObject, withListedRecords } from '../oracle/oracle.ts';

/** SQL's truth: null is unknown. */
export type Truth = boolean | null;

/** One event that was posted, as plain loops see it. */
export class Entry {
  readonly event: JsonObject;
  readonly timestampUs: number;
  /** Its place among the events of its source. */
  readonly arrival: number;

  constructor(event: JsonObject, arrival: number) {
    this.event = event;
    this.arrival = arrival;
    this.timestampUs = timestampOf(event['timestamp']);
  }

  get message(): string {
    return this.event['event_message'] as string;
  }

  /** The value at a dotted path, through lists of one; null where there is none. */
  at(path: string): unknown {
    let value: unknown = this.event;
    for (const key of path.split('.')) {
      value = (only(value) as JsonObject | null | undefined)?.[key];
    }
    return value ?? null;
  }

  /** Whether UNNEST of the record at this path gives a row. */
  has(path: string): boolean {
    return only(this.at(path)) !== null;
  }

  text(path: string): string | null {
    const value = this.at(path);
    return typeof value === 'string' ? value : null;
  }

  number(path: string): number | null {
    const value = this.at(path);
    return typeof value === 'number' ? value : null;
  }

  /** Its metadata as an answer gives it. */
  get metadata(): unknown {
    const metadata = this.event['metadata'];
    return withListedRecords(Array.isArray(metadata) ? metadata : [metadata]);
  }
}

/** The one record of a list of one. */
function only(value: unknown): unknown {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

/** Microseconds of a number of milliseconds, or of a text with nine digits of fraction. */
function timestampOf(value: unknown): number {
  if (typeof value === 'number') return value * 1000;
  const [, whole, digits] = /^(.*)\.(\d{6})\d{3}Z$/.exec(value as string)!;
  return Date.parse(`${whole}Z`) * 1000 + Number(digits);
}

/** Newest first; of the same moment what came last. */
export function newestFirst(events: readonly JsonObject[]): Entry[] {
  const entries = events.map((event, index) => new Entry(event, index));
  return entries.sort((a, b) => b.timestampUs - a.timestampUs || b.arrival - a.arrival);
}

export function or(left: Truth, right: Truth): Truth {
  if (left === true || right === true) return true;
  return left === null || right === null ? null : false;
}

/** `value IN (…)`. */
export function isIn(value: unknown, list: readonly unknown[]): Truth {
  return value === null ? null : list.includes(value);
}

/** `test(value)`, unknown of null. */
export function when<T>(value: T | null, test: (value: T) => boolean): Truth {
  return value === null ? null : test(value);
}

/** Groups in ascending order of their keys. */
export function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return new Map([...groups].sort(([left], [right]) => (left < right ? -1 : 1)));
}

export function countOf(entries: readonly Entry[], test: (entry: Entry) => Truth): number {
  return entries.filter((entry) => test(entry) === true).length;
}
