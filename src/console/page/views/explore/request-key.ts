import type { LogEvent } from '../../api/explore.ts';
import { quoteValue } from './search-text.ts';

/** A value that all events of one request have, in whichever source they are. */
export type RequestKey = { readonly name: string; readonly value: string };

/** Fields that have such a value; the first one that an event has counts. */
const NAMES = ['request_id', 'trace_id', 'execution_id'] as const;

/** Levels of a record that are looked through. */
const DEPTH_MAX = 6;

/** Members of a record whose own members are looked through: a record of a stranger may have ten thousand. */
const MEMBERS_MAX = 200;

export function findRequestKey({ metadata }: LogEvent): RequestKey | undefined {
  for (const name of NAMES) {
    const value = findValue(metadata, name, DEPTH_MAX);
    if (value !== undefined) return { name, value };
  }
  return undefined;
}

/** The search that finds the events of a request in any source. */
export function formatSearch({ name, value }: RequestKey): string {
  return `*.${name}:${quoteValue(value)}`;
}

/** A key in the fragment: its name, a colon and the value. */
export function formatRequestKey({ name, value }: RequestKey): string {
  return `${name}:${value}`;
}

export function parseRequestKey(text: string): RequestKey | undefined {
  const name = NAMES.find((one) => text.startsWith(`${one}:`));
  return name === undefined ? undefined : { name, value: text.slice(name.length + 1) };
}

function findValue(value: unknown, name: string, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null || depth === 0) return undefined;
  const own = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
  if ((typeof own === 'string' && own !== '') || typeof own === 'number') return String(own);
  for (const member of Object.values(value).slice(0, MEMBERS_MAX)) {
    const found = findValue(member, name, depth - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
