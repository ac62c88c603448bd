import { deepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countFields, type Field } from '../../engine/column/field-counts.ts';
import { endReading } from '../../engine/column/segment-reader.ts';
import type { PhysicalScan } from '../../engine/plan/physical-plan.ts';
import type { TestEvent } from '../column/batch-of.ts';
import { inFolder } from '../column/stored-segment.ts';
import { fieldCounts, type PostedEvent } from '../src/explore/event-loop.ts';
import { runsOf } from '../support/budget.ts';
import { segmentForms } from './segment-forms.ts';

const KEY = fc.constantFrom('a', 'constructor', '', 'é');
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

type Event = { readonly timestampUs: number; readonly posted: PostedEvent };

const SECONDS_MAX = 40;
const EVENT: fc.Arbitrary<Event> = fc.record({
  timestampUs: fc.nat(SECONDS_MAX).map((seconds) => seconds * 1_000_000),
  posted: fc.record(
    {
      project: fc.constantFrom('p', 'q', 'r'),
      metadata: fc.oneof(RECORD, fc.array(RECORD, { minLength: 1, maxLength: 3 })),
      level: VALUE,
      extra: RECORD,
    },
    { requiredKeys: ['project', 'metadata'] },
  ),
});

/** Some shapes, each several times, so that some of their leaves get columns. */
const EVENTS = fc
  .array(fc.tuple(EVENT, fc.constantFrom(1, 1, 9)), { minLength: 1, maxLength: 8 })
  .map((pairs) => pairs.flatMap(([event, times]) => new Array<Event>(times).fill(event)));

const PROJECTS = fc.constantFrom<readonly string[] | undefined>(
  ...[undefined, undefined, undefined],
  ...[['p'], ['q', 'p'], ['nobody', 'r'], ['nobody']],
);

const SECONDS = fc.nat(SECONDS_MAX + 1);
const WINDOW = fc.oneof(
  fc.constant([0, SECONDS_MAX + 1]),
  fc.tuple(SECONDS, SECONDS).map((pair) => pair.sort((left, right) => left - right)),
);

/** As the loop gives them. */
function told({ path, kinds, eventCount, values }: Field) {
  ok(values?.isDistinctExact && values.isTopExact);
  return { path, kinds, eventCount, distinct: values.distinctCount, top: values.top };
}

test('the fields of events in reach are those of an exact loop, in every form of their segments', async () => {
  await fc.assert(
    fc.asyncProperty(EVENTS, PROJECTS, WINDOW, async (events, projects, seconds) => {
      const [startUs, endUs] = seconds.map((second) => second * 1_000_000) as [number, number];
      const inside = events.filter(({ timestampUs, posted }) => {
        const isInReach = projects === undefined || projects.includes(String(posted['project']));
        return isInReach && timestampUs >= startUs && timestampUs < endUs;
      });
      const expected = fieldCounts(inside.map(({ posted }) => posted));
      await inFolder(async (folder) => {
        const sealedEvents = events.map(
          ({ timestampUs, posted }) => ({ ...posted, timestampUs }) as TestEvent,
        );
        for (const [form, segmentsOf] of await segmentForms(sealedEvents, folder)) {
          // All that is read of a scan.
          const projectKey = projects?.length === 1 ? projects[0] : undefined;
          const segments = segmentsOf({ projectKey } as PhysicalScan);
          const scope = { startUs, endUs, projects, withValues: true };
          const found = countFields(segments, scope, () => {});
          endReading();
          deepEqual([found.eventCount, found.isCut], [inside.length, false], form);
          deepEqual(found.fields.map(told), expected, form);
        }
      });
    }),
    { numRuns: runsOf(200) },
  );
});
