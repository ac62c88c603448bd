import type { TextTimes } from '../large/asked-texts.ts';
import { figuresOf, hashOf } from '../measure.ts';
import { type FamilyVariants, VARIANT_COUNT } from './families.ts';

/** What was asked all texts, and what it took for each in the order of the families. Runs of one name are one. */
export type AskedSubject = { readonly name: string; readonly times: readonly TextTimes[] };

/** The engine whose time the ratio is of, and those that it is divided by. */
const RATIO_OF = ['duckdb', 'beside, just filled', 'beside, at rest'];

/** A table in Markdown: medians of the first calls, and of the same ones again. */
export function tableOf(
  families: readonly FamilyVariants[],
  subjects: readonly AskedSubject[],
): string {
  const names = Array.from(new Set(subjects.map(({ name }) => name)));
  const ratios = names.filter((name) => RATIO_OF.includes(name)).flatMap((name) => ratiosOf(name));
  const lines = [
    ['first / again, ms', ...names, ...ratios.map(({ title }) => title), 'hash'],
    ['---', ...names.map(() => '---'), ...ratios.map(() => '---'), '---'],
  ];
  const hashes = hashesOf(families, subjects);
  const logs = ratios.map(() => 0);
  for (const [family, { name }] of families.entries()) {
    const cells = names.map((one) => cellOf(timesOf(subjects, one, family)));
    const quotients = ratios.map(({ above, below }) => {
      const [over, under] = [above, below].map((one) => medianOf(timesOf(subjects, one, family)));
      return over! / under!;
    });
    for (const [index, quotient] of quotients.entries()) logs[index]! += Math.log(quotient);
    lines.push([name, ...cells, ...quotients.map(digitsOf), hashes[family]!]);
  }
  const means = logs.map((log) => digitsOf(Math.exp(log / families.length)));
  lines.push(['geometric mean', ...names.map(() => ''), ...means, '']);
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** One for each family: of the answers that the first subject gave, or whoever did not give up. */
export function hashesOf(
  families: readonly FamilyVariants[],
  subjects: readonly AskedSubject[],
): readonly string[] {
  const [first] = subjects;
  const digests = first!.times.map((_, text) =>
    subjects.map(({ times }) => times[text]!.digest).find((digest) => digest !== undefined),
  );
  return families.map((_, family) => hashOf(digests.slice(...boundsOf(family)).join()));
}

/** Sentences that say which texts two subjects answer differently. One that gave up differs from none. */
export function differencesOf(
  texts: readonly string[],
  subjects: readonly AskedSubject[],
): readonly string[] {
  return texts.flatMap((text, index) => {
    const answered = subjects.filter(({ times }) => times[index]!.digest !== undefined);
    const digests = new Set(answered.map(({ times }) => times[index]!.digest));
    if (digests.size <= 1) return [];
    return [
      [text, ...answered.map(({ name, times }) => `${name}: ${times[index]!.head}`)].join('\n'),
    ];
  });
}

function ratiosOf(
  name: string,
): readonly { readonly title: string; readonly above: string; readonly below: string }[] {
  const own = ['weir, just filled', 'weir, at rest'];
  if (name !== 'duckdb') {
    const below = name.replace('beside', 'weir');
    return [{ title: `${name} ÷ weir`, above: name, below }];
  }
  return own.map((below) => ({ title: `${name} ÷ ${below}`, above: name, below }));
}

function boundsOf(family: number): [start: number, end: number] {
  return [family * VARIANT_COUNT, (family + 1) * VARIANT_COUNT];
}

function timesOf(
  subjects: readonly AskedSubject[],
  name: string,
  family: number,
): readonly TextTimes[] {
  return subjects
    .filter((subject) => subject.name === name)
    .flatMap(({ times }) => times.slice(...boundsOf(family)));
}

function medianOf(times: readonly TextTimes[]): number {
  return figuresOf(times.map(({ firstMs }) => firstMs)).p50;
}

function cellOf(times: readonly TextTimes[]): string {
  const again = figuresOf(times.map(({ againMs }) => againMs)).p50;
  const givenUpCount = times.filter(({ digest }) => digest === undefined).length;
  const text = `${digitsOf(medianOf(times))} / ${digitsOf(again)}`;
  return givenUpCount === 0 ? text : `${text} (${givenUpCount} given up)`;
}

/** Three digits. */
function digitsOf(value: number): string {
  return value < 100 ? value.toPrecision(3) : value.toFixed(0);
}
