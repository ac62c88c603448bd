import {
  type Batch,
  MIXED_PROJECTS,
  NO_STRING,
  stringReference,
} from '../../engine/column/batch.ts';
import {
  BIG_INTEGER,
  EMPTY_LIST,
  FALSE_KIND,
  FLOAT,
  HUGE_NUMBER,
  INTEGER,
  JSON_TEXT,
  KIND_BITS,
  NULL_KIND,
  RECORD,
  RECORD_LIST,
  TEXT,
  TRUE_KIND,
} from '../../engine/column/token.ts';
import { encodeWtf8 } from '../../engine/column/wtf8.ts';
import { RECORD_DEPTH_MAX } from '../../engine/limits.ts';

/** A number no double holds, as its text: `new HugeNumber('1e999')`. */
export class HugeNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A value of an event. A bigint is an integer of any size; a Map is a record with any keys. */
export type EventValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | HugeNumber
  | readonly EventValue[]
  | ReadonlyMap<string, EventValue>
  | { readonly [key: string]: EventValue };

export type TestEvent = {
  readonly id?: string;
  readonly timestampUs: number;
  readonly event_message?: string | null | undefined;
  readonly project?: string | null | undefined;
  /** The decision of the source's rule; absent: `project`. `MIXED_PROJECTS`: several. */
  readonly projectKey?: string | null | typeof MIXED_PROJECTS | undefined;
  readonly metadata?: EventValue;
  /** Further top-level keys. */
  readonly [key: string]: EventValue | undefined;
};

const DECLARED = new Set(['id', 'timestampUs', 'event_message', 'project', 'projectKey']);

/** A batch as the decoder would make it of these events, in the plainest way. */
export function batchOf(events: readonly TestEvent[]): Batch {
  const maker = new BatchMaker();
  events.forEach((event, index) => {
    maker.add(event, index);
  });
  return maker.batch(events.length);
}

/** The keys and values of a record, in order. */
export function entriesOf(value: EventValue): readonly (readonly [string, EventValue])[] {
  return value instanceof Map ? [...value] : Object.entries(value as object);
}

export function isRecord(value: EventValue): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof HugeNumber)
  );
}

/** The value as JSON text; `wrapped`: each map that is a field's value as a list of one. */
export function jsonOf(value: EventValue, wrapped: boolean): string {
  if (value instanceof HugeNumber) return value.text;
  if (typeof value === 'bigint') return String(value);
  if (Object.is(value, -0)) return '-0';
  if (Array.isArray(value)) {
    return `[${value.map((element) => jsonOf(element, wrapped)).join(',')}]`;
  }
  if (!isRecord(value)) return JSON.stringify(value);
  const fields = entriesOf(value).map(([key, field]) => {
    const text = jsonOf(field, wrapped);
    return `${JSON.stringify(key)}:${wrapped && isRecord(field) ? `[${text}]` : text}`;
  });
  return `{${fields.join(',')}}`;
}

class BatchMaker {
  readonly #bytes: Uint8Array[] = [];
  #byteCount = 0;
  readonly #keys = new Map<string, number>();
  readonly #keyReferences: number[] = [];
  readonly #tokens: number[] = [];
  readonly #tokenStarts = [0];
  readonly #slots: number[] = [];
  readonly #slotStarts = [0];
  readonly #ids: number[] = [];
  readonly #timestampsUs: number[] = [];
  readonly #messages: number[] = [];
  readonly #projects: number[] = [];
  readonly #projectKeys: number[] = [];

  add(event: TestEvent, index: number): void {
    const key = event.projectKey === undefined ? event.project : event.projectKey;
    this.#ids.push(this.#string(event.id ?? `id-${index}`));
    this.#timestampsUs.push(event.timestampUs);
    this.#messages.push(this.#stringOrNone(event.event_message));
    this.#projects.push(this.#stringOrNone(event.project));
    this.#projectKeys.push(key === MIXED_PROJECTS ? MIXED_PROJECTS : this.#stringOrNone(key));
    const root: [string, EventValue][] = [];
    for (const [name, value] of Object.entries(event)) {
      if (DECLARED.has(name) || value === undefined) continue;
      root.push([name, name === 'metadata' && isRecord(value) ? [value] : value]);
    }
    this.#value(new Map(root), 0, 1);
    this.#tokenStarts.push(this.#tokens.length);
    this.#slotStarts.push(this.#slots.length);
  }

  batch(rowCount: number): Batch {
    const bytes = new Uint8Array(this.#byteCount);
    let offset = 0;
    for (const piece of this.#bytes) {
      bytes.set(piece, offset);
      offset += piece.length;
    }
    return {
      rowCount,
      bytes,
      keys: Float64Array.from(this.#keyReferences),
      keyCount: this.#keyReferences.length,
      tokens: Int32Array.from(this.#tokens),
      tokenStarts: Uint32Array.from(this.#tokenStarts),
      slots: Float64Array.from(this.#slots),
      slotStarts: Uint32Array.from(this.#slotStarts),
      ids: Float64Array.from(this.#ids),
      timestampsUs: Float64Array.from(this.#timestampsUs),
      messages: Float64Array.from(this.#messages),
      projects: Float64Array.from(this.#projects),
      projectKeys: Float64Array.from(this.#projectKeys),
    };
  }

  #string(text: string): number {
    const piece = encodeWtf8(text);
    const reference = stringReference(this.#byteCount, piece.length);
    this.#bytes.push(piece);
    this.#byteCount += piece.length;
    return reference;
  }

  #stringOrNone(text: string | null | undefined): number {
    return text === null || text === undefined ? NO_STRING : this.#string(text);
  }

  #keyIndex(key: string): number {
    let index = this.#keys.get(key);
    if (index === undefined) {
      index = this.#keys.size;
      this.#keys.set(key, index);
      this.#keyReferences.push(this.#string(key));
    }
    return index;
  }

  #value(value: EventValue, key: number, depth: number): void {
    const token = (kind: number): void => void this.#tokens.push((key << KIND_BITS) | kind);
    const stringSlot = (kind: number, text: string): void => {
      token(kind);
      this.#slots.push(this.#string(text));
    };
    if (value === null) token(NULL_KIND);
    else if (typeof value === 'boolean') token(value ? TRUE_KIND : FALSE_KIND);
    else if (typeof value === 'string') stringSlot(TEXT, value);
    else if (value instanceof HugeNumber) stringSlot(HUGE_NUMBER, value.text);
    else if (typeof value === 'bigint' && !Number.isSafeInteger(Number(value))) {
      stringSlot(BIG_INTEGER, String(value));
    } else if (typeof value === 'number' || typeof value === 'bigint') {
      token(Number.isSafeInteger(Number(value)) ? INTEGER : FLOAT);
      this.#slots.push(Number(value));
    } else if (Array.isArray(value) && value.length === 0) token(EMPTY_LIST);
    else if (!canBeTokens(value, depth)) stringSlot(JSON_TEXT, jsonOf(value, false));
    else this.#node(value, key, depth);
  }

  #node(value: EventValue, key: number, depth: number): void {
    const isList = Array.isArray(value);
    const at = this.#tokens.length;
    const slotCount = this.#slots.length;
    this.#tokens.push((key << KIND_BITS) | (isList ? RECORD_LIST : RECORD), 0, 0);
    if (isList) {
      for (const element of value as readonly EventValue[]) this.#value(element, 0, depth);
    } else {
      for (const [name, field] of entriesOf(value)) {
        this.#value(field, this.#keyIndex(name), depth + 1);
      }
    }
    this.#tokens[at + 1] = this.#tokens.length - at - 3;
    this.#tokens[at + 2] = this.#slots.length - slotCount;
  }
}

/** Whether a record, or a list of records, is kept as tokens at this depth. */
function canBeTokens(value: EventValue, depth: number): boolean {
  if (!Array.isArray(value)) return depth <= RECORD_DEPTH_MAX;
  return (
    value.every(isRecord) &&
    value.every((element) => depth + levels(element) - 1 <= RECORD_DEPTH_MAX)
  );
}

function levels(value: EventValue): number {
  if (Array.isArray(value)) return Math.max(0, ...value.map(levels));
  if (!isRecord(value)) return 0;
  return 1 + Math.max(0, ...entriesOf(value).map(([, field]) => levels(field)));
}
