import { equal } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { endReading, isReadingPassing } from '../../engine/column/segment-reader.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { checkCases } from '../random-sql/check-cases.ts';
import { engineJson, fragmentedJson, segmentsOfEvents } from '../random-sql/engine-answer.ts';
import { randomMixedCase } from '../random-sql/mixed-query.ts';
import { render } from '../random-sql/render.ts';
import { budgetOf, runsOf } from '../support/budget.ts';
import { extracts, segmentForms } from './segment-forms.ts';

test('law 5: open, sealed, half and half, one worker or many: the same bytes', async (context) => {
  await checkCases(context, { count: runsOf(120), isMixed: true }, ({ query, events }) => {
    const sql = render(query);
    const wanted = engineJson(sql, segmentsOfEvents(events, 0), 'optimized');
    for (const sealedCount of [0, events.length >> 1, events.length]) {
      const segments = segmentsOfEvents(events, sealedCount);
      const got = engineJson(sql, segments, 'optimized');
      if (got !== wanted) return { wrong: `with ${sealedCount} sealed ${got}, open ${wanted}` };
      const again = engineJson(sql, segments, 'optimized');
      if (again !== wanted) return { wrong: `from texts that were kept ${again}, first ${wanted}` };
      for (const by of ['segments', 'rows'] as const) {
        const cut = fragmentedJson(sql, segments, by);
        if (cut === undefined || cut === wanted) continue;
        return { wrong: `in fragments by ${by}, ${sealedCount} sealed ${cut}, in one ${wanted}` };
      }
    }
    return { rowCount: wanted.length > 2 ? 1 + wanted.split('},{').length : 0 };
  });
});

/** Enough that one reads memory of its own. */
const FORM_QUERIES = budgetOf('WEIR_FORM_QUERIES', { fast: 4, all: 50 });

test('law 5: merged, reloaded from files, evicted and brought back, replayed from the log, and some of each: the same bytes', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-forms-'));
  // Of the forms that have no room; a query may need no column at all.
  let passingCount = 0;
  const alone = <T>(run: () => T): T => {
    try {
      return run();
    } finally {
      if (isReadingPassing()) passingCount++;
      endReading();
    }
  };
  try {
    await checkCases(context, { count: FORM_QUERIES, isMixed: true }, async ({ query, events }) => {
      const sql = render(query);
      const forms = await segmentForms(events, folder);
      let wanted: string | undefined;
      for (const [name, segments] of forms) {
        const got = alone(() => engineJson(sql, segments, 'optimized'));
        wanted ??= got;
        if (got !== wanted) return { wrong: `${name}: ${got}, open: ${wanted}` };
        for (const by of ['segments', 'rows'] as const) {
          const cut = alone(() => fragmentedJson(sql, segments, by));
          if (cut === undefined || cut === wanted) continue;
          return { wrong: `${name}, in fragments by ${by}: ${cut}, in one: ${wanted}` };
        }
      }
      return { rowCount: wanted!.length > 2 ? 1 + wanted!.split('},{').length : 0 };
    });
  } finally {
    await rm(folder, { recursive: true });
  }
  context.diagnostic(
    `${passingCount} queries read memory of their own, ${extracts.count} extracts`,
  );
  if (passingCount === 0) throw new Error('no query read segments into memory of its own');
});

/** Each has a store of its own. */
const MIXED_QUERIES = budgetOf('WEIR_MIXED_FORM_QUERIES', { fast: 4, all: 60 });

test('law 5: of fields that hold several kinds, in every form: the rows that plain loops find', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-mixed-'));
  try {
    const seed = fuzzSeed();
    for (let number = 0; number < MIXED_QUERIES; number++) {
      const { sql, events, wanted } = randomMixedCase(new Random(seed + number));
      if (wanted === undefined || events.length < 3) continue;
      for (const [name, segments] of await segmentForms(events, folder)) {
        equal(
          engineJson(sql, segments, 'optimized'),
          wanted,
          `seed ${seed + number}, ${name}: ${sql}`,
        );
        endReading();
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
