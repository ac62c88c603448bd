import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as token from '../../engine/column/token.ts';
import { RECORD_DEPTH_MAX } from '../../engine/limits.ts';
import { MalformedBodyError } from '../../ingest/ingest-error.ts';
import { EVENT_FIELDS_MAX } from '../../ingest/limits.ts';
import { type DecodedBody, decodeBody } from '../../ingest/post-body.ts';
import { runsOf } from '../support/budget.ts';
import { anyCodePoint } from '../support/code-point.ts';
import { plain, type Read, readJson, readRoot, sorted } from './token-reader.ts';

async function decode(text: string): Promise<DecodedBody> {
  return decodeBody([Buffer.from(text)], 'json');
}

function readEvents(body: DecodedBody): (Read | undefined)[] {
  const { decoder, text, tokenStarts, slotStarts } = body;
  const { tokens, slots, keys } = decoder;
  const source = { bytes: text.bytes, keys: keys.references, tokens, slots };
  return Array.from({ length: body.eventCount }, (_, event) => {
    const start = tokenStarts[event]!;
    return start === tokenStarts[event + 1]
      ? undefined
      : readRoot(source, start, slotStarts[event]!);
  });
}

/** The kind and the value of `text` as the value of a field. */
async function decodeField(text: string): Promise<{ kind: number; value: unknown }> {
  const body = await decode(`[{"v":${text}}]`);
  const kind = body.decoder.tokens[token.NODE_HEADER_SIZE]! & token.KIND_MASK;
  const [event] = readEvents(body);
  return { kind, value: (plain(event!) as { v: unknown }).v };
}

const anyString = fc.oneof(
  fc.string({ unit: anyCodePoint }),
  fc.constantFrom(
    '',
    'a',
    'id',
    'timestamp',
    'batch',
    '__proto__',
    '1',
    '\u0000"\\/\b',
    '\ud83d',
    'é𝄞',
  ),
);

const stringText = fc
  .tuple(anyString, fc.boolean())
  .map(([text, isEscaped]) =>
    isEscaped
      ? `"${Array.from({ length: text.length }, (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`).join('')}"`
      : JSON.stringify(text),
  );

const numberText = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer().map(String),
  fc.bigInt().map(String),
  fc.constantFrom(
    '-0',
    '0',
    '-0.0',
    '0e7',
    '1e5',
    '1E+2',
    '-1.5e-3',
    '1.0',
    '1e999',
    '-1e999',
    '5e-999',
    '9007199254740991',
    '9007199254740992',
    '-9007199254740993',
    `1${'0'.repeat(400)}`,
  ),
);

const space = fc.constantFrom('', '', '', ' ', '\n\t', '\r\n ');

const { value: jsonText } = fc.letrec<{ value: string; map: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom('null', 'true', 'false'),
    numberText,
    stringText,
    tie('map'),
    fc
      .tuple(fc.array(tie('value'), { maxLength: 4 }), space)
      .map(([items, gap]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`),
    fc.array(tie('map'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
  ),
  map: fc
    .tuple(fc.array(fc.tuple(stringText, tie('value')), { maxLength: 5 }), space)
    .map(
      ([fields, gap]) =>
        `{${gap}${fields.map(([key, value]) => `${key}${gap}:${gap}${value}`).join(`${gap},${gap}`)}${gap}}`,
    ),
}));

async function mustAgreeWithJsonParse(text: string): Promise<void> {
  const bytes = Buffer.from(text);
  let parsed: unknown;
  try {
    // Unlike JSON.parse, a body may begin with a byte order mark.
    parsed = JSON.parse(bytes.toString().replace(/^\ufeff/, ''));
  } catch {
    await assert.rejects(decodeBody([bytes], 'json'), MalformedBodyError, text);
    return;
  }
  const body = await decodeBody([bytes], 'json');
  if (!Array.isArray(parsed)) return;
  const expected = parsed.map((event) =>
    typeof event === 'object' && event !== null && !Array.isArray(event)
      ? sorted(readJson(event))
      : undefined,
  );
  assert.deepEqual(
    readEvents(body).map((event) => event && sorted(event)),
    expected,
  );
}

test('texts that JSON.parse accepts are decoded to the same values', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(jsonText, { maxLength: 3 }), (events) =>
      mustAgreeWithJsonParse(`[${events.map((event) => `{"v":${event}},${event}`).join(',')}]`),
    ),
    { numRuns: runsOf(1500) },
  );
});

test('a text changed at random is refused when JSON.parse refuses it, else decoded as it says', async () => {
  const change = fc.tuple(
    fc.nat(),
    fc.constantFrom(0, 1),
    fc.oneof(
      fc.constantFrom(
        '',
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '\\',
        '-',
        '.',
        'e',
        '0',
        '1',
        ' ',
        '\n',
        '\u0000',
        'u',
        'true',
        'x',
        '+',
        '\u00a0',
        '\ufeff',
      ),
      fc.string({ maxLength: 2 }),
    ),
  );
  await fc.assert(
    fc.asyncProperty(
      jsonText,
      fc.array(change, { minLength: 1, maxLength: 2 }),
      (value, changes) => {
        let text = `[{"v":${value}}]`;
        for (const [position, removed, inserted] of changes) {
          const at = position % (text.length + 1);
          text = text.slice(0, at) + inserted + text.slice(at + removed);
        }
        return mustAgreeWithJsonParse(text);
      },
    ),
    { numRuns: runsOf(6000) },
  );
});

test('texts that RFC 8259 does not allow are refused', async () => {
  const refused = [
    '',
    ' ',
    '{',
    '[',
    '[1',
    '[1,]',
    '[,1]',
    '{"a":1,}',
    '{,}',
    '{"a"}',
    '{"a":}',
    '{a:1}',
    "{'a':1}",
    '[01]',
    '[-]',
    '[+1]',
    '[.5]',
    '[1.]',
    '[1e]',
    '[1e+]',
    '[0x1]',
    '[NaN]',
    '[Infinity]',
    '[tru]',
    '[truex]',
    '["\t"]',
    '["\\x"]',
    '["\\u12g4"]',
    '["\\u123"]',
    '["]',
    '[1] 2',
    '{} {}',
    '[]]',
    '\u00a0[]',
    '{"batch":[],}',
    '{"batch":[1}',
    '{"batch":[{}] "a":1}',
    '[\u0000]',
    '[]\u0000',
    '{"a":1]',
    '["a":1]',
    '[1 2]',
  ];
  for (const text of refused) {
    await assert.rejects(decode(text), MalformedBodyError, text);
  }
});

test('numbers keep what a double or 53 bits would lose', async () => {
  assert.deepEqual(await decodeField('9007199254740991'), {
    kind: token.INTEGER,
    value: 2 ** 53 - 1,
  });
  assert.deepEqual(await decodeField('-9007199254740991'), {
    kind: token.INTEGER,
    value: 1 - 2 ** 53,
  });
  assert.equal((await decodeField('9007199254740992')).kind, token.BIG_INTEGER);
  assert.equal((await decodeField('-9007199254740992')).kind, token.BIG_INTEGER);
  assert.deepEqual(await decodeField('-0'), { kind: token.FLOAT, value: -0 });
  assert.deepEqual(await decodeField('1.0'), { kind: token.INTEGER, value: 1 });
  assert.deepEqual(await decodeField('1e3'), { kind: token.INTEGER, value: 1000 });
  assert.deepEqual(await decodeField('0.1'), { kind: token.FLOAT, value: 0.1 });
  assert.equal((await decodeField('9007199254740992.0')).kind, token.FLOAT);
  assert.deepEqual(await decodeField('1e999'), { kind: token.HUGE_NUMBER, value: Infinity });
  assert.deepEqual(await decodeField(`-1${'0'.repeat(400)}`), {
    kind: token.HUGE_NUMBER,
    value: -Infinity,
  });
});

test('lists are records, empty, or text', async () => {
  assert.equal((await decodeField('[ ]')).kind, token.EMPTY_LIST);
  assert.equal((await decodeField('[{"a":1},{}]')).kind, token.RECORD_LIST);
  const mixed = await decodeField('[{"a\\n":"\\u00e9"}, [{"b":2}], {"c":"\\""} ]');
  assert.deepEqual(mixed, {
    kind: token.JSON_TEXT,
    value: [{ 'a\n': 'é' }, [{ b: 2 }], { c: '"' }],
  });
  assert.equal((await decodeField('[1]')).kind, token.JSON_TEXT);
  assert.equal((await decodeField('[null]')).kind, token.JSON_TEXT);
});

test('of duplicate keys the last wins in the place of the first, also when records lie between', async () => {
  const [event] = readEvents(
    await decode('[{"a":1,"b":{"a":2,"\\u0061":{"c":[{"d":1}]}},"a":{"x":3},"c":"","b":[{}]}]'),
  );
  assert.deepEqual(event, {
    entries: [
      ['a', { entries: [['x', 3]] }],
      ['b', [{ entries: [] }]],
      ['c', ''],
    ],
  });
});

function nested(levels: number, innermost: string): string {
  return `${'{"a":'.repeat(levels)}${innermost}${'}'.repeat(levels)}`;
}

test('records below RECORD_DEPTH_MAX are text, those at it are not', async () => {
  for (const [innermost, levels] of [
    ['{}', RECORD_DEPTH_MAX - 1],
    ['[{}]', RECORD_DEPTH_MAX - 1],
    ['{}', RECORD_DEPTH_MAX],
    ['[{}]', RECORD_DEPTH_MAX],
    ['{"b":[{"c":1}]}', RECORD_DEPTH_MAX + 7],
  ] as const) {
    const text = nested(levels, innermost);
    const body = await decode(`[${text}]`);
    assert.deepEqual(plain(readEvents(body)[0]!), JSON.parse(text));
    const isText = body.decoder.slotCount > 0;
    assert.equal(isText, levels >= RECORD_DEPTH_MAX);
  }
});

test('a million levels are decoded', async () => {
  const depth = 1_000_000;
  const lists = await decode(`[{"a":${'['.repeat(depth)}${']'.repeat(depth)}}]`);
  assert.equal(lists.eventCount, 1);
  assert.equal((await decode(`[${nested(depth, '1')}]`)).decoder.slotCount, 1);
  await assert.rejects(decode(`[${'{"a":['.repeat(depth)}`), /got the end of the body/);
});

test('lists that turn out to be text at their very ends are text with all they hold', async () => {
  // Each level is taken for a list of records until its second element.
  const levels = RECORD_DEPTH_MAX + 4;
  const text = `${'[{"a":'.repeat(levels)}1${'},2]'.repeat(levels)}`;
  assert.deepEqual((await decodeField(text)).value, JSON.parse(text));
});

test('strings and keys as large as a body are kept', async () => {
  const long = 'x'.repeat(11_900_000);
  const body = await decode(`[{"v":"${long}\\n"}]`);
  const [event] = readEvents(body);
  assert.equal((plain(event!) as { v: string }).v, `${long}\n`);
  const [wide] = readEvents(await decode(`[{"${long}":1}]`));
  assert.equal(Object.keys(plain(wide!) as object)[0]!.length, long.length);
});

test('a hundred thousand keys of a body, and as many duplicates, are decoded', async () => {
  const event = (number: number): string => {
    const keys = Array.from({ length: 4_000 }, (_, index) => `"key ${number} ${index}":${index}`);
    return `{${[...keys, ...keys].join(',')}}`;
  };
  const events = Array.from({ length: 25 }, (_, number) => event(number));
  const wide = await decode(`[${events.join(',')}]`);
  assert.equal((readEvents(wide)[24] as { entries: unknown[] }).entries.length, 4_000);
  assert.equal(wide.decoder.slotCount, 100_000);
  const same = Array.from({ length: 3_000 }, (_, index) => `"a":{"b":${index}}`);
  const [last] = readEvents(await decode(`[{${same.join(',')}}]`));
  assert.deepEqual(plain(last!), { a: { b: 2_999 } });
});

test('an event with too many keys or maps is refused, and the others are not', async () => {
  // With the event itself, which is a map.
  const keys = Array.from({ length: EVENT_FIELDS_MAX - 1 }, (_, index) => `"k${index}":1`);
  const most = `{${keys.join(',')}}`;
  const more = `{${keys.join(',')},"a":[{"b":[2]}]}`;
  const body = await decode(`[{"a":1},${most},${more},{"a":2}]`);
  assert.equal(body.eventCount, 4);
  assert.deepEqual(
    [...body.badEvents],
    [[2, `an event may have ${EVENT_FIELDS_MAX} keys and maps; got more`]],
  );
  assert.equal(body.tokenStarts[2], body.tokenStarts[3]);
  assert.equal(body.decoder.slotCount, 1 + keys.length + 1);
});
