import type { LogEvent } from '../../api/explore.ts';

/** A field that has a column. */
export type EventColumn = { readonly path: string; readonly keys: readonly string[] };

/** Keys that a search accepts in a path without backticks. */
const PLAIN_KEY = /^[\p{L}\p{N}_@$][\p{L}\p{N}_@$-]*$/u;

/** The path of a field as it is typed in a search: keys between dots, odd ones in backticks. */
export function formatPath(keys: readonly string[]): string {
  return keys
    .map((key) => (PLAIN_KEY.test(key) ? key : `\`${key.replace(/[\\`]/g, '\\$&')}\``))
    .join('.');
}

/** The keys of a path that is written so. */
export function parsePath(path: string): readonly string[] {
  return [...path.matchAll(/`((?:[^`\\]|\\.)*)`|[^.`]+/gs)].map(([key, quoted]) =>
    quoted === undefined ? key : quoted.replace(/\\(.)/gs, '$1'),
  );
}

/** The paths of a list between commas, and such a list of paths. */
export function parsePaths(text: string): readonly string[] {
  return text.match(/(?:`(?:[^`\\]|\\.)*`|[^,`])+/gs) ?? [];
}

export function formatPaths(paths: readonly string[]): string {
  return paths.join(',');
}

/** The values of a field of an event, through lists as through records, as one text. */
export function formatValues(event: LogEvent, keys: readonly string[]): string {
  let values: readonly unknown[] = [event];
  for (const key of keys) values = values.flatMap((value) => findMembers(value, key));
  return values.flat(Number.POSITIVE_INFINITY).map(formatValue).join(', ');
}

function findMembers(value: unknown, key: string): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap((element) => findMembers(element, key));
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return [];
  return [(value as Readonly<Record<string, unknown>>)[key]];
}

function formatValue(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}
