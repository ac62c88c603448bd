import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnswerFilter } from '../../../src/doors/answer-filter.ts';
import { ServiceError } from '../../../src/errors.ts';
import { FILTER_PATH_LENGTH_MAX } from '../../../src/limits.ts';

const INDEXED = { index: { _id: 'a', status: 201 } };
const ERROR = { type: 'wrong', reason: 'it is too old' };
const REFUSED = { create: { _id: 'b', status: 400, error: ERROR } };
const ANSWER = { took: 1, errors: true, items: [INDEXED, REFUSED] };

function filterOf(...texts: readonly string[]): AnswerFilter {
  return AnswerFilter.parse(new Map([['filter_path', texts]]));
}

/** What is left of ANSWER, by paths. */
const LEFT: readonly (readonly [paths: string, left: unknown])[] = [
  ['', ANSWER],
  [',-,', ANSWER],
  ['took', { took: 1 }],
  ['items', { items: [INDEXED, REFUSED] }],
  [
    'errors,items.*.error,items.*.status',
    {
      errors: true,
      items: [{ index: { status: 201 } }, { create: { status: 400, error: ERROR } }],
    },
  ],
  ['errors,items.*.error', { errors: true, items: [{ create: { error: ERROR } }] }],
  ['items.*.error.type', { items: [{ create: { error: { type: 'wrong' } } }] }],
  ['items.index', { items: [INDEXED] }],
  ['items.in*x,items.c*', { items: [INDEXED, REFUSED] }],
  ['*o*', { took: 1, errors: true }],
  ['*s', { errors: true, items: [INDEXED, REFUSED] }],
  ['e*rrors*', { errors: true }],
  ['er*rors', { errors: true }],
  ['err*ors*rs', {}],
  ['*.*.status', { items: [{ index: { status: 201 } }, { create: { status: 400 } }] }],
  ['**.status', { items: [{ index: { status: 201 } }, { create: { status: 400 } }] }],
  ['**.t*', { took: 1, items: [{ create: { error: { type: 'wrong' } } }] }],
  ['items.**.type', { items: [{ create: { error: { type: 'wrong' } } }] }],
  ['**.create.**.reason', { items: [{ create: { error: { reason: ERROR.reason } } }] }],
  ['**', ANSWER],
  ['items.**', { items: [INDEXED, REFUSED] }],
  ['none,took.none,items.none', {}],
  ['-items', { took: 1, errors: true }],
  [
    '-took,-items.*.error,-items.index',
    { errors: true, items: [{ create: { _id: 'b', status: 400 } }] },
  ],
  [
    'items,-**._id,-**.reason',
    { items: [{ index: { status: 201 } }, { create: { status: 400, error: { type: 'wrong' } } }] },
  ],
  ['-**', {}],
  ['-*', {}],
];

for (const [paths, left] of LEFT) {
  test(`filter_path=${paths}`, () => {
    assert.deepEqual(filterOf(paths).keepAnswer(ANSWER), left);
  });
}

test('without the parameter an answer is whole, with members of which nothing is there', () => {
  const answer = { features: {}, items: [], none: null };
  assert.equal(AnswerFilter.parse(new Map()).keepAnswer(answer), answer);
  assert.deepEqual(filterOf('items,none').keepAnswer(answer), { items: [], none: null });
});

test('the elements of an answer that is a list are filtered, and none may be left', () => {
  const answer = [{ cluster: 'weir', status: 'green' }];
  assert.deepEqual(filterOf('status').keepAnswer(answer), [{ status: 'green' }]);
  assert.deepEqual(filterOf('items').keepAnswer(answer), []);
});

test('names may have dots, or those of members of all JavaScript objects', () => {
  const text =
    '{"__proto__":{"constructor":1,"other":2},"app.logs":{"version":1},"app":{"logs":2}}';
  const left = (paths: string): string =>
    JSON.stringify(filterOf(paths).keepAnswer(JSON.parse(text) as object));
  assert.equal(left('__proto__.constructor'), '{"__proto__":{"constructor":1}}');
  assert.equal(left('app\\.logs'), '{"app.logs":{"version":1}}');
  assert.equal(left('app.logs'), '{"app":{"logs":2}}');
  assert.equal(left('toString'), '{}');
});

test('more names than are remembered are filtered alike', () => {
  const names = Array.from({ length: 300 }, (_, index) => `name${index}`);
  const answer = { items: names.map((name) => ({ [name]: { status: 400, _id: name } })) };
  const left = { items: names.map((name) => ({ [name]: { status: 400 } })) };
  const filter = filterOf('items.name*.status');
  assert.deepEqual(filter.keepAnswer(answer), left);
  assert.deepEqual(filter.keepAnswer(answer), left);
});

test('a filter that is too long or given twice is refused', () => {
  const longest = `items.${'*a'.repeat((FILTER_PATH_LENGTH_MAX - 6) / 2)}`;
  assert.deepEqual(filterOf(longest).keepAnswer(ANSWER), {});
  const refusal = (code: string) => (error: unknown) =>
    error instanceof ServiceError && error.code === code;
  assert.throws(() => filterOf(`${longest}a`), refusal('invalid_parameter'));
  assert.throws(() => filterOf('took', 'errors'), refusal('repeated_parameter'));
});
