import type { LogEvent } from '../../api/explore.ts';

/** How much an event, or a value of a series, is in need of attention. */
export type Level = 'bad' | 'warn' | 'plain';

const BAD = /^(?:emerg(?:ency)?|alert|crit(?:ical)?|fatal|panic|err(?:or)?|5\d\d)$/i;
const WARN = /^(?:warn(?:ing)?|4\d\d)$/i;

/** Fields that say it, in the metadata or in a record within. */
const NAMES: readonly string[] = [
  'level',
  'severity',
  'severity_text',
  'error_severity',
  'status_code',
];

export function findLevel(value: unknown): Level {
  const text = String(value);
  return BAD.test(text) ? 'bad' : WARN.test(text) ? 'warn' : 'plain';
}

/** The level in the fields of an event. */
export function eventLevel({ metadata }: LogEvent): Level {
  const record = firstRecord(metadata);
  const records = [record, ...Object.values(record).slice(0, 20).map(firstRecord)];
  for (const one of records) {
    for (const name of NAMES) if (Object.hasOwn(one, name)) return findLevel(one[name]);
  }
  return 'plain';
}

function firstRecord(value: unknown): Readonly<Record<string, unknown>> {
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === 'object' && first !== null && !Array.isArray(first) ? first : {};
}
