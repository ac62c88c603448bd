import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { CodedTruths } from '../../engine/column/number-vectors.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import {
  constantVector,
  type SplitBlock,
  TRUE,
  UNKNOWN,
  valueAt,
} from '../../engine/column/vector.ts';
import { LONE_SURROGATE } from '../../engine/column/wtf8.ts';
import { ByteDfa } from '../../engine/function/regex/byte-dfa.ts';
import { byteProgramOf, runeProgramOf } from '../../engine/function/regex/byte-program.ts';
import type { TextMatcher } from '../../engine/function/regex/text-matcher.ts';
import { compileRegex, literalMatcher } from '../../engine/function/text/regular-expression.ts';
import { SplitSearch } from '../../engine/plan/evaluator/split-search.ts';
import { anyUrls } from '../column/any-url.ts';
import { batchOf } from '../column/batch-of.ts';
import { runsOf } from '../support/budget.ts';
import { assertCovered } from '../support/covered-property.ts';

const ROWS = 400;

/** From so many strings on they are tested by their range here. */
const RANGE_MIN = 1_000;

/** Strings as they lie in a sealed segment, taken apart; `undefined` when they are not. */
function splitOf(urls: readonly string[]): SplitBlock | undefined {
  return splitColumn(
    urls.map((url) => ({ url })),
    'url',
  );
}

/** The column of one key of records that all have it. */
function splitColumn(
  records: readonly Readonly<Record<string, string>>[],
  key: string,
): SplitBlock | undefined {
  const segment = new OpenSegment({ id: 1, arrivalBase: 0 });
  const events = records.map((metadata, n) => ({ timestampUs: n, metadata }));
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  const reader = SealedSegmentReader.open(sealSegment(segment.handle(), { partitionUs: 1e17 })[0]!);
  const rows = Int32Array.from({ length: records.length }, (_, row) => row);
  const roots = reader.roots(rows, rows.length);
  const metadata = roots.source.field(roots, 'metadata');
  if (metadata.kind !== 'nested') return undefined;
  const vector = metadata.source.field(metadata, key);
  return vector.kind === 'dictionary' ? vector.dictionary.split : undefined;
}

/** Ranges of strings, as they are tested by their shapes, say the same as the strings one by one. */
function expectSameRanges(
  matcher: TextMatcher,
  split: SplitBlock,
  urls: readonly string[],
): number {
  const search = new SplitSearch(matcher, RANGE_MIN);
  let testedCount = 0;
  for (const [start, end] of [
    [0, urls.length],
    [1, urls.length - 7],
    [Math.floor(urls.length / 3), urls.length],
  ] as const) {
    const truths = search.testRange(split, start, end - start);
    const codes = Int32Array.from({ length: end - start }, (_, index) => start + index);
    codes[5] = -1;
    const ofCodes = search.test(split, codes, codes.length);
    equal(ofCodes[5], UNKNOWN);
    for (const [index, code] of codes.entries()) {
      if (code >= 0) equal(ofCodes[index] === TRUE, matcher.test(urls[code]!), urls[code]);
    }
    if (truths === undefined) continue;
    testedCount++;
    for (let code = start; code < end; code++) {
      const url = urls[code]!;
      equal(valueAt(truths, code - start), matcher.test(url), JSON.stringify(url));
    }
  }
  return testedCount;
}

/** The same strings; tells of each that is put together, and of each whose head is asked for. */
function observed(
  split: SplitBlock,
  { onRange = () => {}, onHead = () => {} }: { onRange?: () => void; onHead?: () => void },
): SplitBlock {
  const { heads, headStarts, headCodes, shapes, shapeCodes } = split;
  const { parts, words, wordStarts, wordEntries, textEntries, holeCounts } = split;
  return {
    ...{ heads, headStarts, headCodes, shapes, shapeCodes },
    ...{ parts, words, wordStarts, wordEntries, textEntries, holeCounts },
    headRun: (code) => {
      onHead();
      return split.headRun(code);
    },
    partStart: (code) => split.partStart(code),
    partStarts: (codes, count, starts) => split.partStarts(codes, count, starts),
    rest: (code) => split.rest(code),
    shortKey: (code) => split.shortKey(code),
    partsKey: (code, partCount) => split.partsKey(code, partCount),
    range: (code) => {
      onRange();
      return split.range(code);
    },
  };
}

/** How many of the strings were read. */
function expectSame(matcher: TextMatcher, split: SplitBlock, urls: readonly string[]): number {
  // Of few strings nothing is judged: each is read.
  const few = urls.slice(0, 3).map((_, code) => code);
  const fewTruths = new SplitSearch(matcher).test(split, Int32Array.from(few), few.length);
  for (const code of few) equal(fewTruths[code] === TRUE, matcher.test(urls[code]!), urls[code]);
  let readCount = 0;
  const counted = observed(split, { onRange: () => readCount++ });
  const codes = Int32Array.from([...urls.keys(), -1]);
  const truths = new SplitSearch(matcher, RANGE_MIN).test(counted, codes, codes.length);
  equal(truths[urls.length], UNKNOWN);
  for (const [code, url] of urls.entries()) {
    equal(truths[code] === TRUE, matcher.test(url), JSON.stringify(url));
  }
  return readCount;
}

const part = fc.constantFrom(
  ...[
    'https://',
    'a',
    'b.example',
    'example.com',
    '/rest',
    '/v1/',
    'orders',
    '/orders/[0-9]+',
    '\\?id=',
  ],
  ...[
    'eq\\.',
    '[0-9]*7',
    '[0-9a-f]{8}-',
    '.*',
    '[^/]+',
    '(?:auth|rest)',
    '&t+',
    'w',
    '^',
    '$',
    '\\b',
  ],
  ...['é', '(?i:REST)', '\\.', '#', '^https://(?:a|b)', 'x$', '\\?', '-[0-9a-f]{12}$'],
);
const pattern = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));

test('a pattern is found in just the strings taken apart that it is found in', async () => {
  let splitCount = 0;
  let readCount = 0;
  await assertCovered(
    fc.property(
      anyUrls(ROWS),
      fc.array(pattern, { minLength: 8, maxLength: 16 }),
      (urls, sources) => {
        const split = splitOf(urls);
        if (split === undefined) return;
        splitCount++;
        for (const source of sources)
          readCount += expectSame(compileRegex(source), split, urls) / ROWS / sources.length;
      },
    ),
    {
      numRuns: 60,
      isEnough: () => splitCount > 5,
      met: () => `${splitCount} columns were taken apart`,
    },
  );
  ok(readCount < splitCount * 0.3, `most strings are not put together: ${readCount / splitCount}`);
});

test('a text is found in just the strings taken apart that it is found in', () => {
  fc.assert(
    fc.property(anyUrls(ROWS), fc.nat(), fc.nat(60), fc.nat(12), (urls, row, start, size) => {
      const split = splitOf(urls);
      if (split === undefined) return;
      const characters = [...urls[row % urls.length]!];
      const text = characters.slice(start, start + size).join('');
      fc.pre(!LONE_SURROGATE.test(text));
      expectSame(literalMatcher(text), split, urls);
      expectSame(literalMatcher('x'.repeat(2_000)), split, urls);
    }),
    { numRuns: runsOf(60) },
  );
});

test('a pattern is found in just the paths and queries that it is found in, cut out of URLs', async () => {
  let cutCount = 0;
  await assertCovered(
    fc.property(
      anyUrls(ROWS),
      fc.array(pattern, { minLength: 4, maxLength: 8 }),
      (urls, sources) => {
        const records = urls.map((url) => {
          const rest = url.replace(/^[a-z]*:\/\/[^/?#]*/, '');
          const path = rest.replace(/[?#].*$/s, '');
          const [search = ''] = /^\?[^#]*/s.exec(rest.slice(path.length)) ?? [];
          return { url, path, search };
        });
        for (const key of ['path', 'search'] as const) {
          const split = splitColumn(records, key);
          if (split === undefined) continue;
          cutCount++;
          const texts = records.map((record) => record[key]);
          for (const source of sources) {
            const matcher = compileRegex(source);
            // Without what is known of cuts, as in segments made before it was, and with it.
            expectSame(matcher, split, texts);
            expectSameRanges(matcher, split, texts);
          }
        }
      },
    ),
    {
      numRuns: 40,
      isEnough: () => cutCount > 5,
      met: () => `${cutCount} columns were cut out of others`,
    },
  );
});

test('a word that was cut off decides nothing of what was cut out', () => {
  const records = Array.from({ length: 4_500 }, (_, n) => {
    const path = `/v1/${n % 700 === 3 ? `author_${n % 7}` : `t_${n % 60}`}/${n}`;
    const search = `?order=${n % 90 === 5 ? `author_${n % 7}` : `t_${n % 50}`}&id=eq.${n * 7919}`;
    return { url: `https://abc.example.com${path}${search}`, path, search };
  });
  for (const key of ['url', 'path', 'search'] as const) {
    const split = splitColumn(records, key);
    ok(split !== undefined, key);
    const texts = records.map((record) => record[key]);
    for (const source of ['/auth', 'author', '=auth', '/author_1/[0-9]+$', '/t_[0-9]+']) {
      const matcher = compileRegex(source);
      ok(expectSameRanges(matcher, split, texts) > 0);
      expectSame(matcher, split, texts);
    }
  }
});

test('where an automaton begins anew on its way, no string is taken for another', () => {
  fc.assert(
    fc.property(
      anyUrls(ROWS),
      fc.array(pattern, { minLength: 2, maxLength: 4 }),
      fc.integer({ min: 50, max: 1_000 }),
      (urls, sources, tableMax) => {
        const limits = { tableMax, membersMax: 500, workMax: 1e6, progressMin: 0 };
        const split = splitOf(urls);
        if (split === undefined) return;
        for (const source of sources) {
          const matcher = compileRegex(source);
          const runes = runeProgramOf(RE2JS.compile(source));
          const bytes = runes && byteProgramOf(runes);
          const small = bytes && new ByteDfa(bytes, limits);
          expectSame({ ...matcher, automaton: () => small }, split, urls);
        }
      },
    ),
    { numRuns: runsOf(60) },
  );
});

const HOSTS = ['https://abc.example.com', 'https://def.example.com', 'https://xyz.example.com'];
const PATHS: readonly ((n: number) => string)[] = [
  (n) => `/rest/v1/orders?select=*&id=eq.${n * 7919}`,
  (n) => `/storage/v1/object/public/avatars/${(n * 99_991).toString(16).padStart(12, 'a')}.png`,
  (n) => `/auth/v1/authorize?redirect_to=https://other${n % 11}x.example.com/callback`,
];

test('strings that have a shape are not put together', () => {
  const urls = Array.from(
    { length: 900 },
    (_, n) => `${HOSTS[Math.floor(n / 300)]}${PATHS[n % 3]!(n)}`,
  );
  const split = splitOf(urls);
  ok(split !== undefined);
  for (const [source, readMax] of [
    ['^https://(abc|def).*\\.example\\.com/', 0],
    ['/rest/v1/', 0],
    ['/rest/v1/.*&id=eq\\.[0-9]+$', 0],
    ['^https://xyz.*/storage/v1/object/.*\\.png$', 0],
    ['id=eq\\.[0-9]*7$', 0],
    ['/callback\\?', 0],
  ] as const) {
    const readCount = expectSame(compileRegex(source), split, urls);
    ok(readCount <= readMax, `${source} reads ${readCount}`);
  }
});

const ALONE = 'https://abc.example.com';

test('a range of strings is decided by shapes, and by reading what they leave open', async () => {
  let testedCount = 0;
  let splitCount = 0;
  await assertCovered(
    fc.property(
      anyUrls(1_200),
      fc.array(pattern, { minLength: 4, maxLength: 8 }),
      (urls, sources) => {
        const alone = urls.map((url) => `${ALONE}${url.replace(/^[a-z]+:\/\/[^/?#]*/, '')}`);
        for (const some of [urls, alone]) {
          const split = splitOf(some);
          if (split === undefined) continue;
          splitCount++;
          for (const source of sources) {
            testedCount += expectSameRanges(compileRegex(source), split, some) / sources.length;
          }
        }
      },
    ),
    {
      numRuns: 12,
      isEnough: () => splitCount > 3,
      met: () => `${splitCount} columns were taken apart`,
    },
  );
  ok(testedCount > splitCount, `${testedCount} ranges of ${splitCount} columns`);
});

test('a range behind heads of which all say the same is one constant', () => {
  const urls = Array.from(
    { length: 4_500 },
    (_, n) => `${HOSTS[Math.floor(n / 1_500)]}${PATHS[n % 3]!(n)}`,
  );
  const split = splitOf(urls);
  ok(split !== undefined);
  const search = new SplitSearch(compileRegex('^https://(abc|def).*\\.example\\.com/'), RANGE_MIN);
  deepEqual(search.testRange(split, 0, 3_000), constantVector(true, 3_000));
  deepEqual(search.testRange(split, 3_000, 1_500), constantVector(false, 1_500));
  equal(search.testRange(split, 1_500, 3_000), undefined);
  const rest = new SplitSearch(literalMatcher('/rest'), RANGE_MIN).testRange(split, 3, 3_000);
  ok(rest instanceof CodedTruths);
  equal(rest.values.filter((truth) => truth === TRUE).length, 1_000);
});

test('where only rare words decide, only the strings with one are looked at', () => {
  const wordOf = (n: number) => (n % 900 === 899 ? 'restored' : `t_${n % 50}`);
  const urls = Array.from({ length: 4_500 }, (_, n) => `${ALONE}/v1/${wordOf(n)}?id=eq.${n}`);
  const split = splitOf(urls);
  ok(split !== undefined);
  for (const [source, lookedAtMax] of [
    ['/rest', 10],
    ['/v1/(restored|orders)\\?', 10],
    ['^https://[a-z.]+/v1/t_[0-9]+\\?', 10],
    ['/v1/t_[0-9]+\\?id=eq\\.[0-9]+$', 10],
    ['/t_7\\?id=', 5_000],
    ['id=eq\\.[0-9]*7$', 5_000],
  ] as const) {
    let lookedAtCount = 0;
    const counted = observed(split, { onHead: () => lookedAtCount++ });
    const matcher = compileRegex(source);
    const truths = new SplitSearch(matcher, RANGE_MIN).testRange(counted, 0, urls.length);
    ok(truths !== undefined);
    for (const [code, url] of urls.entries()) equal(valueAt(truths, code), matcher.test(url), url);
    ok(lookedAtCount <= lookedAtMax, `${source} looks at ${lookedAtCount}`);
  }
});
