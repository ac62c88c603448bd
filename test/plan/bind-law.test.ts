import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nearestName } from '../../engine/nearest-name.ts';
import { planText } from '../../engine/plan/plan-text.ts';
import { bind } from './bind-check.ts';

const QUERY = `
  with buckets as (select timestamp_sub(current_timestamp(), interval 1 hour) as start)
  select timestamp_trunc(t.timestamp, minute) as minute, m.path, count(distinct id) as n
  from buckets, logs as t left join unnest(metadata) as m on true
  where t.timestamp >= start and coalesce(m.level, event_message) like @project
  group by minute, path having n > 1 order by n desc, 1 limit 10`;

test('the letter case of words changes no plan', () => {
  const expected = planText(bind(QUERY).plan).toLowerCase();
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { minLength: QUERY.length, maxLength: QUERY.length }),
      (up) => {
        const text = [...QUERY].map((character, at) =>
          up[at] ? character.toUpperCase() : character,
        );
        assert.equal(planText(bind(text.join('')).plan).toLowerCase(), expected);
      },
    ),
    { numRuns: 50 },
  );
});

test('binding a text twice gives equal plans', () => {
  assert.deepEqual(bind(QUERY), bind(QUERY));
});

test('a name is nearest to itself, whatever stands beside it', () => {
  const word = fc.string({ minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(word, fc.array(word), (name, others) => {
      const nearest = nearestName(name, [...others, name]);
      assert.equal(nearest?.toLowerCase(), name.toLowerCase());
    }),
  );
});

test('a third of the letters may be wrong, and neighbours swapped, but no more', () => {
  assert.equal(nearestName('timestmap', ['id', 'timestamp']), 'timestamp');
  assert.equal(nearestName('abc', ['abx']), 'abx');
  assert.equal(nearestName('abc', ['axx']), undefined);
  assert.equal(nearestName('abcdef', ['abxxef']), 'abxxef');
  assert.equal(nearestName('abcdef', ['axxxef']), undefined);
  assert.equal(nearestName('a'.repeat(65), ['a'.repeat(65)]), undefined);
});
