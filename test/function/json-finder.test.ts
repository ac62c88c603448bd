import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeWtf8, encodeWtf8 } from '../../engine/column/wtf8.ts';
import { JsonScalarFinder } from '../../engine/function/json/json-finder.ts';
import { parseJsonPath } from '../../engine/function/json/json-value.ts';
import { assertCovered } from '../support/covered-property.ts';
import { call } from './call.ts';

/** What the finder finds; `'only the text can tell'`. */
function found(json: string, path: string): string | null {
  const finder = new JsonScalarFinder(parseJsonPath(path));
  // Texts lie among others.
  const bytes = encodeWtf8(`"${json}0`);
  const isFound = finder.find(bytes, 1, bytes.length - 1);
  if (isFound === undefined) return 'only the text can tell';
  return isFound ? decodeWtf8(bytes, finder.start, finder.end) : null;
}

test('a scalar is found where the path leads, and a record, a list and a null are none', () => {
  equal(found('{"a": {"b": "x"}}', '$.a.b'), 'x');
  equal(found(' [1, -2.5e+3 ] ', '$[1]'), '-2.5e+3');
  equal(found('{"a": true, "a": false}', '$.a'), 'true');
  equal(found('{"a": {}, "a": {"b": 1}}', '$.a.b'), null);
  for (const json of ['null', '{}', '[]', '{"b": 1}']) equal(found(json, '$'), null);
});

test('nothing is found in what is no JSON to its end', () => {
  const invalid = [
    '',
    ' ',
    '01',
    '1.',
    '1e',
    '-',
    '+1',
    '.5',
    'tru',
    'True',
    '"a',
    '"\t"',
    '"\\x"',
  ];
  const unfinished = [
    '[1,]',
    '[1 2]',
    '[,1]',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{a:1}',
    '1 2',
    '[1',
    '{',
    '"\\u12"',
  ];
  for (const json of [...invalid, ...unfinished]) {
    equal(found(json, '$'), null, json);
    equal(found(`[5, ${json}`, '$[0]'), null, json);
  }
});

test('an escape on the path, and what lies too deep, is left to the text', () => {
  equal(found('"a\\n"', '$'), 'only the text can tell');
  equal(found('{"\\u0061": 1}', '$.a'), 'only the text can tell');
  equal(found(`${'['.repeat(99)}${']'.repeat(99)}`, '$'), 'only the text can tell');
  equal(found('{"b": "\\n", "c": [{"\\n": 1}], "a": 1}', '$.a'), '1');
});

test('the finder agrees with the function on any text', async () => {
  const piece = fc.constantFrom(
    ...['{', '}', '[', ']', ',', ':', '"', '"a"', '"b"', '"a":', '{"a":', ' ', '\n', '\\', '\\"'],
    ...['0', '1', '-', '.', 'e', 'true', 'false', 'null', 'x', 'é', '\ud83d', '\\u00e9'],
  );
  const pieces = fc.array(piece, { maxLength: 8 }).map((each) => each.join(''));
  const changed = fc
    .tuple(fc.json({ maxDepth: 3 }), fc.nat(), fc.option(piece))
    .map(([json, at, put]) => {
      const place = at % (json.length + 1);
      return put === null ? json : json.slice(0, place) + put + json.slice(place + (at % 2));
    });
  const named = fc
    .record({ a: fc.jsonValue({ maxDepth: 2 }), b: fc.jsonValue({ maxDepth: 1 }) })
    .map((value) => JSON.stringify(value));
  const path = fc.constantFrom('$', '$.a', '$.b', '$.a.b', '$[0]', '$[1]', '$.a[0]', '$[0].a');
  let foundCount = 0;
  await assertCovered(
    fc.property(fc.oneof(pieces, changed, named), path, (json, steps) => {
      const text = found(json, steps);
      if (text === 'only the text can tell') return;
      equal(text, call('json_value', json, steps), `${json} at ${steps}`);
      if (text !== null) foundCount++;
    }),
    {
      numRuns: 5_000,
      isEnough: () => foundCount > 10,
      met: () => `${foundCount} were found`,
    },
  );
});
