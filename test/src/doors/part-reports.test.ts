import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusalSentences } from '../../../ingest/admission.ts';
import { REFUSALS_LISTED_MAX } from '../../../ingest/limits.ts';
import { BUILT_IN_SOURCES } from '../../../ingest/source.ts';
import { PartReports } from '../../../src/doors/part-reports.ts';

const source = BUILT_IN_SOURCES[0]!;

test('reports of parts number the events of the whole post', () => {
  const reports = new PartReports();
  reports.add({ events: [1], reasons: ['a'], repaired: [0], storedEvents: 2 });
  reports.add({
    events: [2],
    reasons: ['b'],
    repaired: [1],
    storedEvents: 2,
    unreadableTimestamps: { count: 2, firstText: 'soon' },
    withoutProject: { source, count: 1 },
  });
  reports.add({
    events: [],
    reasons: [],
    repaired: [],
    storedEvents: 3,
    unreadableTimestamps: { count: 1, firstText: 'later' },
    withoutProject: { source, count: 3 },
  });
  assert.deepEqual(refusalSentences(reports.refusals), ['event 1: a', 'event 5: b']);
  assert.deepEqual(reports.repaired, [0, 4]);
  assert.deepEqual(reports.unreadableTimestamps, { count: 3, firstText: 'soon' });
  assert.deepEqual(reports.withoutProject, [{ source, count: 4 }]);
});

test('reasons are listed for the first refused events, and the others are counted', () => {
  const reports = new PartReports();
  const events = Array.from({ length: REFUSALS_LISTED_MAX - 1 }, (_, index) => index);
  reports.add({ events, reasons: events.map(String), repaired: [], storedEvents: 0 });
  for (const reason of ['last', 'unlisted']) {
    reports.add({ events: [0, 1], reasons: [reason, reason], repaired: [], storedEvents: 0 });
  }
  const sentences = refusalSentences(reports.refusals);
  assert.equal(sentences.length, REFUSALS_LISTED_MAX + 1);
  assert.deepEqual(sentences.slice(-2), ['event 99: last', '… and 3 more events']);
});
