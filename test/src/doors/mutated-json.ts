import { must } from '../../../engine/assert.ts';

/**
 * JSON whose objects may have duplicate keys, and whose other values are bytes in Latin-1 that may
 * not be JSON.
 */
export type Json =
  | { readonly kind: 'object'; readonly entries: [key: string, value: Json][] }
  | { readonly kind: 'list'; readonly items: Json[] }
  | { readonly kind: 'bytes'; readonly text: string };

/** Selects the change and its place: any three numbers from zero. */
export type Choice = readonly [operation: number, place: number, other: number];

export function readJson(text: string): Json {
  return fromValue(JSON.parse(text));
}

function fromValue(value: unknown): Json {
  if (Array.isArray(value)) return { kind: 'list', items: value.map(fromValue) };
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, of]): [string, Json] => [key, fromValue(of)]);
    return { kind: 'object', entries };
  }
  return bytes(Buffer.from(JSON.stringify(value)).toString('latin1'));
}

export function bytesOf(json: Json): Buffer {
  return Buffer.from(textOf(json), 'latin1');
}

function textOf(json: Json): string {
  if (json.kind === 'bytes') return json.text;
  if (json.kind === 'list') return `[${json.items.map(textOf).join(',')}]`;
  return `{${json.entries.map(([key, value]) => `"${key}":${textOf(value)}`).join(',')}}`;
}

/** One change of a value somewhere in `root`. */
export function mutate(root: Json, [operation, place, other]: Choice): void {
  const places = placesOf(root);
  if (places.length === 0) return;
  const { container, index } = places[place % places.length]!;
  const second = places[other % places.length]!;
  const operations: readonly (() => void)[] = [
    () => remove(container, index),
    () => duplicate(container, index, other),
    () => rename(container, index, KEYS[other % KEYS.length]!),
    () => swap(container, index, second),
    () => replace(container, index, fromText(VALUES[other % VALUES.length]!)),
    () =>
      replace(container, index, nested(valueAt(container, index), DEPTHS[other % DEPTHS.length]!)),
    () => spoil(container, index, other),
  ];
  operations[operation % operations.length]!();
}

/** Keys that formats know, and some that no format knows. */
const KEYS = [
  ...[
    'message',
    'event_message',
    'timestamp',
    'id',
    'project',
    'metadata',
    'batch',
    'source',
    'body',
  ],
  ...[
    'streams',
    'stream',
    'values',
    'resourceLogs',
    'scopeLogs',
    'logRecords',
    'attributes',
    'key',
  ],
  ...['value', 'stringValue', 'intValue', 'arrayValue', 'kvlistValue', 'typecasts', 'path', 'data'],
  ...['timeUnixNano', 'severityNumber', 'index', 'create', 'delete', '_index', '_id', '@timestamp'],
  ...[
    '',
    '__proto__',
    'constructor',
    'a.b',
    'k'.repeat(300),
    '\\u0000',
    '\\ud800',
    '\xff',
    '\xe2\x82',
  ],
];

/** JSON of every kind, and numbers out of range. */
const VALUES = [
  ...['null', 'true', '0', '-0', '-1', '1.5', '1e400', '-1e400', '9007199254740993', '1e-400'],
  ...['18446744073709551616', `${'9'.repeat(400)}`, `0.${'1'.repeat(400)}`, '253402300800000000'],
  ...['""', '"text"', '"NaN"', '"2026-01-15T11:55:00Z"', '"-1"', '"\\ud800"', '"\\u0000"'],
  ...['[]', '{}', '[[]]', '[{}]', '[null]', '[1,{"a":1}]', '{"a":{"b":[1,"x"]}}', '{"":""}'],
];

const DEPTHS = [1, 2, 10, 33, 70, 3000];

const BAD_BYTES = [
  '\xff',
  '\xc3',
  '\xe2\x82',
  '\xed\xa0\x80',
  '\xf0\x9f\x98',
  '\xc0\x80',
  '\xef\xbb\xbf',
];

type Place = { readonly container: Exclude<Json, { kind: 'bytes' }>; readonly index: number };

function placesOf(root: Json): readonly Place[] {
  const places: Place[] = [];
  const waiting = [root];
  for (let json = waiting.pop(); json !== undefined; json = waiting.pop()) {
    if (json.kind === 'bytes') continue;
    const values = json.kind === 'list' ? json.items : json.entries.map(([, value]) => value);
    for (const index of values.keys()) places.push({ container: json, index });
    waiting.push(...values);
  }
  return places;
}

function valueAt(container: Place['container'], index: number): Json {
  return must(container.kind === 'list' ? container.items[index] : container.entries[index]?.[1]);
}

function replace(container: Place['container'], index: number, value: Json): void {
  if (container.kind === 'list') container.items[index] = value;
  else container.entries[index] = [must(container.entries[index])[0], value];
}

function remove(container: Place['container'], index: number): void {
  if (container.kind === 'list') container.items.splice(index, 1);
  else container.entries.splice(index, 1);
}

/** Copies a value to another index of its list, or repeats the key. */
function duplicate(container: Place['container'], index: number, at: number): void {
  const copy = structuredClone(valueAt(container, index));
  if (container.kind === 'list') container.items.splice(at % (container.items.length + 1), 0, copy);
  else container.entries.push([must(container.entries[index])[0], copy]);
}

function rename(container: Place['container'], index: number, key: string): void {
  if (container.kind === 'object') must(container.entries[index])[0] = key;
}

function swap(container: Place['container'], index: number, other: Place): void {
  const first = structuredClone(valueAt(container, index));
  const second = structuredClone(valueAt(other.container, other.index));
  replace(container, index, second);
  replace(other.container, other.index, first);
}

/** Puts invalid bytes into a string or its key. */
function spoil(container: Place['container'], index: number, which: number): void {
  const bad = BAD_BYTES[which % BAD_BYTES.length]!;
  const value = valueAt(container, index);
  if (value.kind === 'bytes' && value.text.startsWith('"')) {
    replace(container, index, bytes(`"${bad}${value.text.slice(1)}`));
  } else if (container.kind === 'object') {
    rename(container, index, `${must(container.entries[index])[0]}${bad}`);
  }
}

function nested(value: Json, depth: number): Json {
  const isList = depth % 2 === 0;
  const text = textOf(value);
  return bytes(
    isList
      ? '['.repeat(depth) + text + ']'.repeat(depth)
      : '{"a":'.repeat(depth) + text + '}'.repeat(depth),
  );
}

function fromText(text: string): Json {
  return bytes(text);
}

function bytes(text: string): Json {
  return { kind: 'bytes', text };
}
