import type { FieldPath, KnownField } from '../../../src/explore/field-path.ts';
import type { SearchTerm, SearchValue } from '../../../src/explore/search.ts';

/** An event as it is posted. */
export type PostedEvent = Readonly<Record<string, unknown>>;

type Scalar = string | number | boolean;

/** A value at a path, and whether it is an element of a list. */
type FoundValue = { readonly value: Scalar; readonly isInList: boolean };

/** What stands at a path, null aside: records in lists are each looked into. */
function placesAt(event: unknown, path: FieldPath): readonly unknown[] {
  let places: readonly unknown[] = [event];
  for (const key of path) {
    places = places
      .flatMap(listOf)
      .flatMap((place) => (isRecord(place) && Object.hasOwn(place, key) ? [place[key]] : []));
  }
  return places.filter((place) => place !== null);
}

/** All values at a path, null aside, and those in lists there. */
function valuesAt(event: unknown, path: FieldPath): readonly FoundValue[] {
  return placesAt(event, path).flatMap((value) => {
    const isInList = Array.isArray(value);
    return listOf(value).flatMap((item) => (isScalar(item) ? [{ value: item, isInList }] : []));
  });
}

/** The paths of all values of the events but null, with what a search must know of them. */
export function knownFields(events: readonly PostedEvent[]): readonly KnownField[] {
  const paths = new Map<string, FieldPath>();
  const walk = (value: unknown, path: FieldPath): void => {
    for (const item of listOf(value)) {
      if (isRecord(item)) for (const key of Object.keys(item)) walk(item[key], [...path, key]);
      else if (isScalar(item)) paths.set(JSON.stringify(path), path);
    }
  };
  for (const event of events) walk(event, []);
  return [...paths.values()].map((path) => {
    const found = events.flatMap((event) => valuesAt(event, path));
    return {
      path,
      isInLists: found.some(({ isInList }) => isInList),
      isAlone: found.some(({ isInList }) => !isInList),
    };
  });
}

/** Whether an event meets a condition whose field is given by its whole path. */
export function meets(event: PostedEvent, term: SearchTerm): boolean {
  const isMet =
    term.kind === 'message'
      ? meetsMessage(String(event['event_message']), term.value)
      : meetsField(event, term);
  return isMet !== term.isNegated;
}

function meetsMessage(message: string, value: SearchValue): boolean {
  if (value.kind === 'regex') return new RegExp(value.pattern).test(message);
  return value.kind === 'text' && message.toLowerCase().includes(value.text.toLowerCase());
}

type FieldTerm = Extract<SearchTerm, { kind: 'field' }>;

function meetsField(event: PostedEvent, term: FieldTerm): boolean {
  if (term.value.kind === 'any') return placesAt(event, term.path).length > 0;
  return valuesAt(event, term.path).some(({ value }) => meetsValue(value, term));
}

function meetsValue(value: Scalar, { operator, value: wanted }: FieldTerm): boolean {
  switch (wanted.kind) {
    case 'any':
      return true;
    case 'regex':
      return new RegExp(wanted.pattern).test(String(value));
    case 'text':
      return holds(operator === ':' ? '=' : operator, order(String(value), wanted.text));
    case 'number':
      return typeof value === 'number' && holds(operator, value - Number(wanted.text));
  }
}

/** Texts compare by their code points; in these tests all are ASCII. */
function order(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function holds(operator: string, sign: number): boolean {
  if (operator === '=') return sign === 0;
  if (operator.endsWith('=') && sign === 0) return true;
  return operator.startsWith('<') ? sign < 0 : sign > 0;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isScalar(value: unknown): value is Scalar {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** The fields of events, most events first, and the values of each, most frequent first. */
export function fieldCounts(events: readonly PostedEvent[]) {
  const paths = new Map<string, { path: FieldPath; kinds: Set<string>; events: Set<number> }>();
  const note = (path: FieldPath, kind: string, event: number): void => {
    const key = JSON.stringify(path);
    const known = paths.get(key) ?? { path, kinds: new Set(), events: new Set() };
    paths.set(key, known);
    known.kinds.add(kind);
    known.events.add(event);
  };
  const walk = (value: unknown, path: FieldPath, event: number): void => {
    if (Array.isArray(value) && value.length > 0 && !value.every(isRecord))
      note(path, 'ARRAY', event);
    else if (Array.isArray(value)) for (const item of value) walk(item, path, event);
    else if (isRecord(value))
      for (const key of Object.keys(value)) walk(value[key], [...path, key], event);
    else if (isScalar(value)) note(path, kindOf(value), event);
  };
  for (const [index, { project: _project, ...event }] of events.entries()) walk(event, [], index);
  const fields = [...paths.values()].map(({ path, kinds, events: having }) => {
    const counts = new Map<Scalar, number>();
    for (const { value } of events.flatMap((event) => valuesAt(event, path))) {
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    const all = [...counts].map(([value, count]) => ({ value, count }));
    const top = all.sort(
      (left, right) => right.count - left.count || order(keyOf(left.value), keyOf(right.value)),
    );
    return {
      path,
      kinds: [...kinds].sort(),
      eventCount: having.size,
      distinct: all.length,
      top: top.slice(0, 10),
    };
  });
  return fields.sort(
    (left, right) =>
      right.eventCount - left.eventCount ||
      order(JSON.stringify(left.path), JSON.stringify(right.path)),
  );
}

/** Tells texts from numbers of the same digits. */
function keyOf(value: Scalar): string {
  return `${typeof value} ${value}`;
}

function kindOf(value: Scalar): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'INT64' : 'FLOAT64';
  return typeof value === 'boolean' ? 'BOOL' : 'STRING';
}
