import { test } from 'node:test';
import { areSame } from '../random-sql/answer.ts';
import { checkCases } from '../random-sql/check-cases.ts';
import { engineAnswer, type SegmentsOf, segmentsOfEvents } from '../random-sql/engine-answer.ts';
import { PlainSegment } from '../random-sql/plain-segment.ts';
import { isOrdered, type Query } from '../random-sql/query.ts';
import { render } from '../random-sql/render.ts';

/** Segments of which none can be skipped, nor any of their rows, nor the work of any value. */
function plainly(segmentsOf: SegmentsOf): SegmentsOf {
  return (scan) => segmentsOf(scan).map((segment) => new PlainSegment(segment));
}

/** Whether some text compares the time or the project of events with a constant. */
function isBounded(query: Query): boolean {
  return /\.timestamp [<>=]+ TIMESTAMP|' [<>=]+ \w+\.timestamp|\.project = '/.test(render(query));
}

for (const sealedCount of [0, 3, 9]) {
  const title = `${sealedCount} events sealed and the rest open`;
  test(`law 4: skipping never changes an answer, ${title}`, async (context) => {
    await checkCases(
      context,
      { count: 100, isMixed: true, filter: isBounded },
      ({ query, events }) => {
        const sql = render(query);
        const segments = segmentsOfEvents(events, Math.min(sealedCount, events.length));
        const wanted = engineAnswer(sql, plainly(segments), 'plain');
        // What is not computed cannot fail.
        if (wanted === 'error') return { rowCount: 0 };
        const others = [
          engineAnswer(sql, segments, 'optimized'),
          engineAnswer(sql, plainly(segments), 'optimized'),
          engineAnswer(sql, segments, 'plain'),
        ];
        const wrong = others.find((other) => !areSame(other, wanted, isOrdered(query)));
        if (wrong === undefined) return { rowCount: wanted.length };
        return { wrong: `${JSON.stringify(wrong)}; plainly ${JSON.stringify(wanted)}` };
      },
    );
  });
}
