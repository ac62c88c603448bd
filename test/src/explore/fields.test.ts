import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { Field } from '../../../engine/column/field-counts.ts';
import { EVERYTHING } from '../../../engine/plan/reach.ts';
import { runsOf } from '../../support/budget.ts';
import { EventBackend, NOW_US } from './event-backend.ts';
import { fieldCounts, type PostedEvent } from './event-loop.ts';

let store: EventBackend;
const SOURCES = Array.from({ length: 120 }, (_, index) => `f${index}`);
let used = 0;

before(async () => {
  store = await EventBackend.open(SOURCES.join(','));
});

after(() => store.close());

const KEY = fc.constantFrom('a', 'b', 'constructor', 'a b', '', 'é');
const SCALAR = fc.constantFrom<unknown>(0, 5, 2.5, '5', 'x', '', true, false, null);
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
    project: fc.constantFrom('p', 'q'),
    metadata: fc.oneof(RECORD, fc.array(RECORD, { maxLength: 2 })),
    level: VALUE,
    extra: RECORD,
  },
  { requiredKeys: ['metadata'] },
);

type Scope = {
  readonly project: string | undefined;
  readonly startUs: number;
  readonly endUs: number;
};

async function askFields(source: string, { project, startUs, endUs }: Scope) {
  return store.backend.engine.countFields({
    ...{ source, projectKey: project, window: { startUs, endUs } },
    ...{ reach: EVERYTHING, withValues: true },
  });
}

/** As the loop gives them. */
function told({ path, kinds, eventCount, values }: Field) {
  ok(values?.isDistinctExact && values.isTopExact);
  return { path, kinds, eventCount, distinct: values.distinctCount, top: values.top };
}

test('the fields of a window and project are those of an exact loop over what was posted', async () => {
  await fc.assert(
    fc.asyncProperty(
      // Each run takes a source: there are not enough to shrink a failure.
      fc.noShrink(fc.array(EVENT, { minLength: 1, maxLength: 40 })),
      fc.constantFrom('open', 'sealed', 'both'),
      fc.constantFrom(undefined, 'p'),
      fc.noShrink(fc.tuple(fc.nat(40), fc.nat(40))),
      async (events, form, project, [from, to]) => {
        const source = SOURCES[used++]!;
        const posted = events.map((event, index) => ({ ...event, timestamp: NOW_US - index }));
        const half = form === 'both' ? Math.floor(posted.length / 2) : 0;
        await store.post(source, posted.slice(0, half));
        if (half > 0) await store.seal();
        await store.post(source, posted.slice(half));
        if (form === 'sealed') await store.seal();
        const scope = {
          project,
          startUs: NOW_US - Math.max(from, to),
          endUs: NOW_US - Math.min(from, to),
        };
        const inside = events.filter((event, index) => {
          const timeUs = NOW_US - index;
          const isOfProject = project === undefined || event['project'] === project;
          return isOfProject && timeUs >= scope.startUs && timeUs < scope.endUs;
        });
        const found = await askFields(source, scope);
        equal(found.eventCount, inside.length);
        const byPath = (fields: readonly { readonly path: readonly string[] }[]) =>
          [...fields].sort((left, right) =>
            JSON.stringify(left.path) < JSON.stringify(right.path) ? -1 : 1,
          );
        deepEqual(byPath(found.fields.map(told)), byPath(fieldCounts(inside)));
      },
    ),
    { numRuns: runsOf(SOURCES.length), includeErrorInReport: true },
  );
});
