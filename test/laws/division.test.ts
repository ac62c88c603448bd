import { test } from 'node:test';
import { checkCases } from '../random-sql/check-cases.ts';
import { engineJson, fragmentedJson, segmentsOfEvents } from '../random-sql/engine-answer.ts';
import { render } from '../random-sql/render.ts';
import { segmentForms } from './segment-forms.ts';

test('law 5: open, sealed, half and half, one worker or many: the same bytes', async (context) => {
  await checkCases(context, { count: 120, isMixed: true }, ({ query, events }) => {
    const sql = render(query);
    const wanted = engineJson(sql, segmentsOfEvents(events, 0), 'optimized');
    for (const sealedCount of [0, events.length >> 1, events.length]) {
      const segments = segmentsOfEvents(events, sealedCount);
      const got = engineJson(sql, segments, 'optimized');
      if (got !== wanted) return { wrong: `with ${sealedCount} sealed ${got}, open ${wanted}` };
      const cut = fragmentedJson(sql, segments);
      if (cut !== undefined && cut !== wanted) {
        return { wrong: `in fragments with ${sealedCount} sealed ${cut}, in one ${wanted}` };
      }
    }
    return { rowCount: wanted.length > 2 ? 1 + wanted.split('},{').length : 0 };
  });
});

test('law 5: merged, reloaded from files, replayed from the log, and some of each: the same bytes', async (context) => {
  await checkCases(context, { count: 50, isMixed: true }, async ({ query, events }) => {
    const sql = render(query);
    const forms = await segmentForms(events);
    let wanted: string | undefined;
    for (const [name, segments] of forms) {
      const got = engineJson(sql, segments, 'optimized');
      wanted ??= got;
      if (got !== wanted) return { wrong: `${name}: ${got}, open: ${wanted}` };
      const cut = fragmentedJson(sql, segments);
      if (cut !== undefined && cut !== wanted) {
        return { wrong: `${name}, in fragments: ${cut}, in one: ${wanted}` };
      }
    }
    return { rowCount: wanted!.length > 2 ? 1 + wanted!.split('},{').length : 0 };
  });
});
