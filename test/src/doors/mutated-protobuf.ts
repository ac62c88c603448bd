import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Choice } from './mutated-json.ts';

/** A message of protobuf as its fields: messages, bytes and numbers. */
export type Field = {
  number: number;
  value: Field[] | Uint8Array | bigint;
};

/** A request with two records of everything that is read. */
export function logsRequest(): Field[] {
  const text = (number: number, value: string): Field => ({ number, value: Buffer.from(value) });
  const pair = (number: number, key: string, value: Field): Field => ({
    number,
    value: [text(1, key), { number: 2, value: [value] }],
  });
  const record = (message: string): Field => ({
    number: 2,
    value: [
      { number: 2, value: 9n },
      text(3, 'INFO'),
      { number: 5, value: [text(1, message)] },
      pair(6, 'project', text(1, 'alpha')),
      pair(6, 'list', { number: 5, value: [{ number: 1, value: [text(1, 'x')] }] }),
      pair(6, 'map', { number: 6, value: [pair(1, 'k', { number: 3, value: 5n })] }),
      text(9, '0123456789abcdef'),
    ],
  });
  const scope: Field = { number: 1, value: [text(1, 'app'), text(2, '1.0')] };
  const resource: Field = { number: 1, value: [pair(1, 'service.name', text(1, 'shop'))] };
  const scopeLogs: Field = { number: 2, value: [scope, record('a'), record('b')] };
  return [{ number: 1, value: [resource, scopeLogs] }];
}

/** A push of Loki with two lines of everything that is read. */
export function lokiRequest(): Field[] {
  const text = (number: number, value: string): Field => ({ number, value: Buffer.from(value) });
  const line = (message: string): Field => ({
    number: 2,
    value: [
      {
        number: 1,
        value: [
          { number: 1, value: 1_768_478_100n },
          { number: 2, value: 5n },
        ],
      },
      text(2, message),
      { number: 3, value: [text(1, 'trace_id'), text(2, 'x')] },
    ],
  });
  const labels = text(1, '{app="shop", project="alpha"}');
  return [{ number: 1, value: [labels, line('a'), line('b'), { number: 3, value: 7n }] }];
}

export function encode(fields: readonly Field[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const { number, value } of fields) {
    if (typeof value === 'bigint') writer.tag(number, WireType.Varint).uint64(value);
    else {
      const bytes = Array.isArray(value) ? encode(value) : value;
      writer.tag(number, WireType.LengthDelimited).bytes(bytes);
    }
  }
  return writer.finish();
}

/** One change of a field somewhere in the message. */
export function mutateFields(root: Field[], [operation, place, other]: Choice): void {
  const places = placesOf(root);
  if (places.length === 0) return;
  const { fields, index } = places[place % places.length]!;
  const second = places[other % places.length]!;
  const field = fields[index]!;
  const operations: readonly (() => void)[] = [
    () => void fields.splice(index, 1),
    () => void fields.splice(other % (fields.length + 1), 0, structuredClone(field)),
    () => {
      field.number = NUMBERS[other % NUMBERS.length]!;
    },
    () => {
      const value = structuredClone(field.value);
      field.value = structuredClone(second.fields[second.index]!.value);
      second.fields[second.index]!.value = value;
    },
    () => {
      field.value = VALUES[other % VALUES.length]!;
    },
    () => {
      field.value = nested(other % 80);
    },
  ];
  operations[operation % operations.length]!();
}

const NUMBERS = [1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 99, 2 ** 29 - 1];

const VALUES = [
  ...[0n, 1n, 2n ** 64n - 1n],
  ...[[], [0xff], [0xe2, 0x82], [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f], [0x0b]].map((bytes) =>
    Buffer.from(bytes),
  ),
];

/** Nested lists as a value. */
function nested(depth: number): Field[] {
  let fields: Field[] = [{ number: 1, value: Buffer.from('x') }];
  for (let level = 0; level < depth; level++) {
    fields = [{ number: 5, value: [{ number: 1, value: fields }] }];
  }
  return fields;
}

type Place = { readonly fields: Field[]; readonly index: number };

function placesOf(root: Field[]): readonly Place[] {
  const places: Place[] = [];
  const waiting = [root];
  for (let fields = waiting.pop(); fields !== undefined; fields = waiting.pop()) {
    for (const [index, { value }] of fields.entries()) {
      places.push({ fields, index });
      if (Array.isArray(value)) waiting.push(value);
    }
  }
  return places;
}
