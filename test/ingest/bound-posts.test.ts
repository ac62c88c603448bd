import { deepEqual, equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Batch } from '../../engine/column/batch.ts';
import { type Admitted, admitEvents, refusalSentences } from '../../ingest/admission.ts';
import { decodeBody } from '../../ingest/post-body.ts';
import { BUILT_IN_SOURCES, type Source } from '../../ingest/source.ts';
import type { JsonObject } from '../oracle/oracle.ts';
import { runsOf } from '../support/budget.ts';
import { plain, readRoot, stringAt } from './token-reader.ts';

/** 2026-01-15T12:00:00Z */
const NOW_US = 1_768_478_400_000_000;
const NEW_ID = Buffer.from('00000000-0000-4000-8000-000000000000');

function source(path: readonly string[]): Source {
  return { name: 'test', id: BUILT_IN_SOURCES[0]!.id, projectPath: path };
}

async function admit(
  events: readonly unknown[],
  path: readonly string[],
  projects: 'all' | readonly string[],
): Promise<Admitted> {
  const randomId = (bytes: Uint8Array, offset: number) => void bytes.set(NEW_ID, offset);
  const body = await decodeBody([Buffer.from(JSON.stringify(events))], 'json');
  const retentionUs = NOW_US;
  return admitEvents(body, {
    source: source(path),
    nowUs: NOW_US,
    retentionUs,
    randomId,
    projects,
  });
}

/** All that is kept of each event; the order of keys counts. */
function rowsOf(batch: Batch): readonly string[] {
  return Array.from({ length: batch.rowCount }, (_, row) =>
    JSON.stringify([
      stringAt(batch.bytes, batch.messages[row]!),
      stringAt(batch.bytes, batch.projects[row]!),
      batch.projectKeys[row]! < 0 ? batch.projectKeys[row] : keyOf(batch, row),
      plain(readRoot(batch, batch.tokenStarts[row]!, batch.slotStarts[row]!)),
    ]),
  );
}

function keyOf(batch: Batch, row: number): string | null {
  return stringAt(batch.bytes, batch.projectKeys[row]!);
}

/** What a sender would have had to send. */
function stamped(event: JsonObject, path: readonly string[], project: string): JsonObject {
  if (path[0] === 'project') return { ...event, project };
  const { metadata, ...others } = event;
  const isNone = metadata === undefined || metadata === null;
  const elements = isNone || (Array.isArray(metadata) && metadata.length === 0) ? [{}] : metadata;
  const stamp = (element: unknown) => withValue(element as JsonObject, path.slice(1), project);
  const list = Array.isArray(elements) ? elements.map(stamp) : stamp(elements);
  return elements === metadata ? { ...event, metadata: list } : { ...others, metadata: list };
}

function withValue(record: JsonObject, path: readonly string[], value: string): JsonObject {
  const [name, ...rest] = path as readonly [string, ...string[]];
  const below =
    rest.length === 0 ? value : withValue((record[name] ?? {}) as JsonObject, rest, value);
  return { ...record, [name]: below };
}

const PATHS = [['project'], ['metadata', 'project_ref'], ['metadata', 'a', 'b']] as const;

const NAMED = fc.constantFrom<unknown>('alpha', 'beta', '', 7, true, null, ['alpha'], [{ x: 1 }], {
  alpha: 1,
});
const RECORD = fc.dictionary(
  fc.constantFrom('project_ref', 'Project_ref', 'project', 'b', 'x', 'y'),
  NAMED,
  { maxKeys: 5, noNullPrototype: true },
);
const ELEMENT = fc
  .tuple(RECORD, fc.option(RECORD, { nil: undefined }))
  .map(([record, inner]) => (inner === undefined ? record : { ...record, a: inner }));
const EVENT = fc.record(
  {
    event_message: fc.constantFrom('hello', 'é'),
    project: fc.constantFrom<unknown>('alpha', 'beta', null, 7),
    metadata: fc.oneof(
      fc.constantFrom(null, []),
      ELEMENT,
      fc.array(ELEMENT, { minLength: 1, maxLength: 3 }),
    ),
    x: NAMED,
    y: fc.constant([1, { project_ref: 'beta' }]),
  },
  { requiredKeys: ['event_message'], noNullPrototype: true },
);

test('events of a token with one project are stored as if they had named it', async () => {
  const cases = fc.tuple(fc.array(EVENT, { maxLength: 5 }), fc.constantFrom(...PATHS));
  await fc.assert(
    fc.asyncProperty(cases, async ([events, path]) => {
      const bound = await admit(events, path, ['alpha']);
      const wanted = events.map((event) => stamped(event, path, 'alpha'));
      const { batch } = await admit(wanted, path, 'all');
      deepEqual(bound.refusals.events, []);
      deepEqual(rowsOf(bound.batch), rowsOf(batch));
      for (let row = 0; row < events.length; row++) equal(keyOf(bound.batch, row), 'alpha');
    }),
    { numRuns: runsOf(600) },
  );
});

test('an event with another value on the path of its project is refused, and the others are stored', async () => {
  const path = ['metadata', 'a', 'b'];
  const events = [
    { metadata: { a: { b: 'x' } } },
    { metadata: { a: 7 } },
    { metadata: [{ a: [] }, {}] },
    {},
  ];
  const { batch, refusals } = await admit(events, path, ['alpha']);
  deepEqual(refusals.events, [1, 2]);
  match(
    refusalSentences(refusals)[0]!,
    /^event 1: metadata\.a must be made of maps, for the token's project to be written to metadata\.a\.b/,
  );
  const { batch: wanted } = await admit(
    [events[0], {}].map((event) => stamped(event!, path, 'alpha')),
    path,
    'all',
  );
  deepEqual(rowsOf(batch), rowsOf(wanted));
});

test('with a token of several projects, each event must name one of them', async () => {
  const cases = fc.tuple(fc.array(EVENT, { maxLength: 6 }), fc.constantFrom(...PATHS));
  await fc.assert(
    fc.asyncProperty(cases, async ([events, path]) => {
      const { batch: all } = await admit(events, path, 'all');
      const isAllowed = (row: number) =>
        all.projectKeys[row]! >= 0 && ['alpha', ''].includes(keyOf(all, row)!);
      const bound = await admit(events, path, ['alpha', '']);
      const rows = rowsOf(all);
      deepEqual(
        rowsOf(bound.batch),
        rows.filter((_, row) => isAllowed(row)),
      );
      deepEqual(
        bound.refusals.events,
        [...rows.keys()].filter((row) => !isAllowed(row)),
      );
    }),
    { numRuns: runsOf(600) },
  );
});

test('the refusal names the path of the project and the value found there', async () => {
  const of = async (event: unknown, path: readonly string[]) =>
    refusalSentences((await admit([event], path, ['alpha', 'gamma'])).refusals)[0];
  const rule = 'must be one of the projects that the token is bound to; got';
  equal(await of({ project: 'beta' }, ['project']), `event 0: project ${rule} "beta"`);
  equal(await of({}, ['project']), `event 0: project ${rule} none`);
  const path = ['metadata', 'project_ref'];
  const both = { metadata: [{ project_ref: 'alpha' }, { project_ref: 'gamma' }] };
  equal(await of(both, path), `event 0: metadata.project_ref ${rule} several, or no text`);
});
