import { equal, notEqual } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { TestEvent } from '../column/batch-of.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { engineJson, type SegmentsOf, segmentsOfEvents } from '../random-sql/engine-answer.ts';
import { TIMES } from '../random-sql/events.ts';
import { PlainSegment } from '../random-sql/plain-segment.ts';
import { runsOf } from '../support/budget.ts';

/** Pieces that one encoding or another treats apart: of several bytes, of two units, half of these, and operators. */
const PIECES = ['a', 'b', '/rest', 'é', '😀', '\ud83d', '\ude00', '%', '_', '.'];

/** Those that JSON writes in another way, and what a JSON text is made of. */
const JSON_PIECES = ['"', '\\', '\n', '\u2028', '{"a":', '[', ']', '}', ',', '1', 'null'];

const piece = fc.constantFrom('a', 'a', 'b', ...PIECES);
const text = fc
  .array(fc.oneof({ weight: 5, arbitrary: piece }, fc.constantFrom(...JSON_PIECES)), {
    maxLength: 5,
  })
  .map((pieces) => pieces.join(''));
const part = fc.array(piece, { maxLength: 2 }).map((pieces) => pieces.join(''));

/** So long that many of them are compressed. */
const LONG_START = 'GET | 200 | https://project.example.com/rest/v1/todos | ';

const events = fc.tuple(
  fc.boolean(),
  fc.array(
    fc.record({
      message: fc.option(text, { freq: 8 }),
      path: fc.option(text, { freq: 8 }),
      repeated: fc.constantFrom('a/rest', 'é😀', '', '\ud83d'),
    }),
    { minLength: 20, maxLength: 40 },
  ),
);

const likePattern = fc
  .array(fc.constantFrom('%', '%', '_', '\\%', 'a', 'b', '/rest', 'é', '😀', '\ud83d'), {
    maxLength: 5,
  })
  .map((pieces) => pieces.join(''));

const regex = fc
  .array(fc.constantFrom('.', '.*', '^', '$', '[^a]', '(?:/rest|é)', 'a', '/rest', '😀', 'é+'), {
    maxLength: 4,
  })
  .map((pieces) => pieces.join(''));

/** An expression of a column `x`. */
const expression = fc.oneof(
  fc
    .tuple(fc.constantFrom('', '%'), likePattern)
    .map(([any, end]) => `x LIKE ${quoted(any + end)}`),
  fc
    .tuple(fc.constantFrom('STARTS_WITH', 'ENDS_WITH', 'STRPOS', 'CONTAINS_SUBSTR'), part)
    .map(([name, wanted]) => `${name}(x, ${quoted(wanted)})`),
  part.map((wanted) => `STRPOS(x, ${quoted(wanted)}) > 0`),
  regex.map((pattern) => `REGEXP_CONTAINS(x, ${quoted(pattern)})`),
  fc.constantFrom('LENGTH(x)', 'CHAR_LENGTH(x)', 'BYTE_LENGTH(x)', 'x IS NULL', 'LENGTH(UPPER(x))'),
  part.map((joined) => `STRPOS(CONCAT(x, ${quoted(joined)}, m.path, m.repeated), 'a')`),
  fc.constantFrom('x || m.repeated', 'LENGTH(x || m.path)', 'm.repeated || x'),
  fc.constantFrom(
    ...['TO_JSON_STRING([x, m.path])', "LENGTH(TO_JSON_STRING(['a', x, m.repeated]))"],
    ...["ARRAY_TO_STRING([x, 'b'], '-')", "[x, 'b'][SAFE_OFFSET(0)]", 'TO_JSON_STRING([x], TRUE)'],
  ),
  fc
    .tuple(
      fc.constantFrom(
        'x',
        `CONCAT('{"a":"', x, '"}')`,
        `CONCAT('{"b":', x, ',"a":[1,"', x, '"]}')`,
      ),
      fc.constantFrom('$', '$.a', '$.b', '$.a.a', '$[0]', '$.a[1]'),
    )
    .map(([json, path]) => `JSON_VALUE(${json}, '${path}')`),
  fc
    .tuple(fc.constantFrom('SUBSTR', 'LEFT', 'RIGHT'), fc.integer({ min: 0, max: 5 }))
    .map(([name, count]) => `STRPOS(${name}(x, ${count}), 'a')`),
);

const column = fc.constantFrom('t.event_message', 'm.path', 'm.repeated', 't.id');

const term = fc
  .tuple(expression, column)
  .map(([written, read]) => written.replace(/\bx\b/, () => read));

test('an expression of a text is the same of its bytes, wherever these lie, as of the text', (context) => {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  const terms = fc.array(term, { minLength: 10, maxLength: 20 });
  fc.assert(
    fc.property(events, terms, fc.nat(40), ([areLong, drawn], expressions, cut) => {
      const made = drawn.map(({ message, path, repeated }, index): TestEvent => {
        const isLong = areLong && message !== null;
        return {
          id: `é${index}`,
          timestampUs: Number(TIMES[1]) + index,
          event_message: isLong ? `${LONG_START}${index}${message}` : message,
          metadata: { repeated, ...(path !== null && { path }) },
        };
      });
      const results = expressions.map((written, index) => `${written} AS result${index}`);
      const sql = `SELECT ${results.join(', ')} FROM logs AS t CROSS JOIN UNNEST(t.metadata) AS m ORDER BY t.timestamp`;
      const wanted = engineJson(sql, plainly(segmentsOfEvents(made, 0)), 'plain');
      notEqual(wanted, 'error');
      for (const sealedCount of [0, Math.min(cut, made.length), made.length]) {
        const segments = segmentsOfEvents(made, sealedCount);
        equal(engineJson(sql, segments, 'optimized'), wanted, `${sealedCount} sealed: ${sql}`);
      }
    }),
    { seed, numRuns: runsOf(500) },
  );
});

function quoted(written: string): string {
  return `'${written.replace(/[\\']/g, '\\$&')}'`;
}

/** Segments that give each column as plain values. */
function plainly(segmentsOf: SegmentsOf): SegmentsOf {
  return (scan) => segmentsOf(scan).map((segment) => new PlainSegment(segment));
}
