import { deepEqual } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { formatPath } from '../../../src/explore/field-path.ts';
import { parseSearch } from '../../../src/explore/search.ts';
import { formatConditions } from '../../../src/explore/search-condition.ts';
import { assertCovered } from '../../support/covered-property.ts';
import { EventBackend, NOW_US } from './event-backend.ts';
import { knownFields, meets, type PostedEvent } from './event-loop.ts';

let store: EventBackend;
/** Each run has a source of its own: events cannot be deleted. */
const SOURCES = Array.from({ length: 400 }, (_, index) => `s${index}`);
let used = 0;

before(async () => {
  store = await EventBackend.open(SOURCES.join(','));
});

after(() => store.close());

/** Odd keys, and words of SQL. */
const KEY = fc.constantFrom(
  'a',
  'b',
  'select',
  'a b',
  'a.b',
  'x`y',
  "q'q",
  'back\\slash',
  '0',
  'é',
);
const SCALAR = fc.constantFrom<unknown>(
  0,
  5,
  -1,
  2.5,
  500,
  '5',
  '500',
  'x',
  'X y',
  '',
  'true',
  true,
  false,
  null,
);
const VALUE = fc.oneof(
  { weight: 4, arbitrary: SCALAR },
  { weight: 1, arbitrary: fc.array(SCALAR, { maxLength: 3 }) },
);
const RECORD = fc.dictionary(
  KEY,
  fc.oneof(
    { weight: 3, arbitrary: VALUE },
    { weight: 1, arbitrary: fc.dictionary(KEY, VALUE, { maxKeys: 2 }) },
  ),
  { maxKeys: 4 },
);

const EVENT: fc.Arbitrary<PostedEvent> = fc.record(
  {
    event_message: fc.constantFrom('GET /rest 500', 'post x', "it's 100%", 'a "b" \\ c', 'x_y'),
    metadata: fc.oneof(RECORD, fc.array(RECORD, { maxLength: 2 })),
    level: VALUE,
    extra: RECORD,
  },
  { requiredKeys: ['event_message', 'metadata'] },
);

const VALUE_TEXT = fc.constantFrom(
  '5',
  '500',
  'x',
  '"X y"',
  '""',
  'true',
  '2.5',
  '*',
  '/^[x5]/',
  '-1',
);

function conditionOf(paths: readonly string[]): fc.Arbitrary<string> {
  const message = fc.constantFrom(
    'get',
    'X',
    '"/rest 5"',
    "it's",
    '100%',
    'x_y',
    '"\\"b\\""',
    '/^[a-z]+ x/',
    '\\',
  );
  const field = fc
    .tuple(
      fc.constantFrom(...paths),
      fc.constantFrom(':', ':', ':', '=', '<', '>=', '>'),
      VALUE_TEXT,
    )
    .filter(([, sign, value]) => sign === ':' || /^-?[\d.]+$/.test(value) || value === '"X y"')
    .map((parts) => parts.join(''));
  return fc
    .tuple(
      fc.constantFrom('', '', '-'),
      fc.oneof({ weight: 1, arbitrary: message }, { weight: 2, arbitrary: field }),
    )
    .map((parts) => parts.join(''));
}

test('a search finds the events that an exact loop over what was posted finds', async () => {
  let found = 0;
  let left = 0;
  await assertCovered(
    fc.asyncProperty(
      fc.array(EVENT, { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      fc.infiniteStream(fc.nat()),
      async (events, isSealed, seeds) => {
        const source = SOURCES[used++ % SOURCES.length]!;
        if (used > SOURCES.length) return;
        await store.post(
          source,
          events.map((event, index) => ({ ...event, id: `${index}`, timestamp: NOW_US - index })),
        );
        if (isSealed) await store.seal();
        const known = knownFields(events);
        const paths = [
          'metadata.none',
          ...known
            .filter(({ path }) => path[0] !== 'event_message')
            .map(({ path }) => formatPath(path)),
        ];
        for (let index = 0; index < 8; index += 1) {
          const [text] = fc.sample(
            fc
              .array(conditionOf(paths), { minLength: 1, maxLength: 2 })
              .map((parts) => parts.join(' ')),
            { numRuns: 1, seed: seeds.next().value! },
          );
          const terms = parseSearch(text!);
          const conditions = formatConditions(text!, terms, known);
          const sql = `SELECT t.id FROM \`${source}\` AS t WHERE ${conditions.join(' AND ')} ORDER BY t.timestamp DESC`;
          const rows = (await store.rows(sql)).map(({ id }) => Number(id));
          const wanted = events.flatMap((event, row) =>
            terms.every((term) => meets(event, term)) ? [row] : [],
          );
          deepEqual(rows, wanted, `${text}\n${sql}`);
          found += wanted.length;
          left += events.length - wanted.length;
        }
      },
    ),
    {
      numRuns: 60,
      isEnough: () => found > 30 && left > 30,
      met: () => `${found} found, ${left} not`,
    },
  );
});
