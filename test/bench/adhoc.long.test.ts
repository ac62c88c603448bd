import { equal, match, ok } from 'node:assert/strict';
import test from 'node:test';
import { CLICKHOUSE, DUCKDB, WEIR } from '../../bench/adhoc/dialects.ts';
import { drawFamilies, FAMILIES, VARIANT_COUNT } from '../../bench/adhoc/families.ts';
import { benchOutput } from './bench-output.ts';

/** Of the small size: made-up events of fixed seeds, so the same on every machine. */
const ADHOC_HASH = '9b75b8547a4e';

const BY_TURNS = ['--size', 'tiny', '--only', '7', '--beside', '.'];

test('no question comes twice, the same seed gives the same ones, and another seed gives others', () => {
  for (const dialect of [WEIR, DUCKDB, CLICKHOUSE]) {
    const textsOf = (seed: number): readonly string[] =>
      drawFamilies(FAMILIES, seed).flatMap(({ warmUp, asked }) =>
        [warmUp, ...asked].map((variant) => variant(dialect)),
      );
    const texts = textsOf(1);
    equal(texts.length, FAMILIES.length * (1 + VARIANT_COUNT));
    equal(new Set(texts).size, texts.length);
    equal(texts.join(), textsOf(1).join());
    // Words are of a short list, so a few texts come again.
    ok(textsOf(2).filter((text) => texts.includes(text)).length < texts.length / 10);
  }
});

test('a family is asked the same whether or not others are', () => {
  const [, second] = drawFamilies(FAMILIES, 1);
  const [alone] = drawFamilies([FAMILIES[1]!], 1);
  equal(
    alone!.asked.map((variant) => variant(WEIR)).join(),
    second!.asked.map((variant) => variant(WEIR)).join(),
  );
});

test('the benchmark of new questions gets the expected answers, and those of other engines', async () => {
  const stdout = await benchOutput('bench/adhoc.ts', '--size', 'small');
  equal(/result hash (\w+)/.exec(stdout)?.[1], ADHOC_HASH);
  const lines = stdout.match(
    /^\| \d+ .* \| [\d.]+ \/ [\d.]+ \| [\d.]+ \/ [\d.]+ \|(?:.*\|)? \w{12} \|$/gm,
  );
  equal(lines?.length, FAMILIES.length, stdout);
});

test('a build measured by turns with itself gives the same answers', async () => {
  const stdout = await benchOutput('bench/adhoc.ts', ...BY_TURNS);
  match(stdout, /^\| 7 small columns, grouped \|/m);
  match(stdout, /beside, just filled ÷ weir \| beside, at rest ÷ weir \| hash \|$/m);
});
