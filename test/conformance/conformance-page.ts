import { aggregateFunctionNames } from '../../engine/aggregate/registry.ts';
import { scalarFunctionNames } from '../../engine/function/registry.ts';
import { type ConformanceCase, caseKey } from './case-file.ts';
import { DIFFERENCES, type Difference } from './differences.ts';
import type { Golden } from './golden-file.ts';

/** Words for what the registries hold under the names of no function. */
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['neg', '- (sign)'],
  ['in_array', 'IN UNNEST'],
  ['is_null', 'IS NULL'],
  ['is_true', 'IS TRUE'],
  ['is_false', 'IS FALSE'],
  ['array_offset', '[OFFSET(…)], […]'],
  ['json_field', 'json.name, json[…]'],
  ['array_safe_offset', '[SAFE_OFFSET(…)]'],
  ['array_ordinal', '[ORDINAL(…)]'],
  ['array_safe_ordinal', '[SAFE_ORDINAL(…)]'],
]);

/** Functions whose answers Google's engine cannot give, and why; they are tested elsewhere. */
export const NOT_RECORDED: ReadonlyMap<string, string> = new Map([
  ['edit_distance', 'newer than this engine'],
  ['to_base32', 'this engine lacks it'],
  ['from_base32', 'this engine lacks it'],
  ['array_slice', 'newer than this engine'],
  ...['timestamp_bucket', 'datetime_bucket', 'date_bucket'].map(
    (name) => [name, 'newer than this engine'] as const,
  ),
  ...['cot', 'csc', 'sec', 'coth', 'csch', 'sech'].map(
    (name) => [name, 'this engine lacks it'] as const,
  ),
  ['json_keys', 'newer than this engine'],
  ['json_of', 'of fields of events, whose kinds only the data knows'],
  ['approx_count_distinct', 'this engine lacks it; held against exact counts instead'],
  ['approx_top_count', 'this engine lacks it; held against exact counts instead'],
  ['approx_top_sum', 'this engine lacks it; held against exact sums instead'],
  ['approx_quantiles', 'an approximation differs by engine; held against exact loops instead'],
]);

export function registeredNames(): readonly string[] {
  return [...scalarFunctionNames(), ...aggregateFunctionNames()];
}

/** CONFORMANCE.md: what is tested, and how weir does. */
export function conformancePage(
  cases: readonly ConformanceCase[],
  goldens: ReadonlyMap<string, Golden>,
): string {
  const registered = new Set(registeredNames());
  const tags = [...new Set(cases.flatMap((each) => each.tags))];
  const errorCount = [...goldens.values()].filter((golden) => golden.error !== undefined).length;
  const differing = new Set(DIFFERENCES.flatMap((difference) => difference.cases));
  const unrecorded = Array.from(NOT_RECORDED, ([name, why]) => [code(name), '–', '0', why]);
  return [
    '# Conformance',
    '',
    `weir against Google's own GoogleSQL engine: ${cases.length} queries, ${errorCount} of which that`,
    `engine refuses. weir agrees on all but ${differing.size}, which are listed below. Each is run as`,
    'bound and as optimised, over open and over sealed segments.',
    '',
    'This page is written by `npm run test:conformance -- --write`.',
    '',
    '## Clauses and forms',
    '',
    ...table(tags.filter((tag) => !registered.has(tag)).map((tag) => rowOf(tag, cases))),
    '',
    '## Functions and operators',
    '',
    ...table([
      ...[...registered].filter((name) => !NOT_RECORDED.has(name)).map((tag) => rowOf(tag, cases)),
      ...unrecorded,
    ]),
    '',
    '## Differences',
    '',
    ...DIFFERENCES.flatMap(differenceLines),
  ].join('\n');
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  return [
    '| tested | weir | cases | how it differs |',
    '|---|---|---|---|',
    ...rows.map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`),
  ];
}

function rowOf(tag: string, all: readonly ConformanceCase[]): readonly string[] {
  const keys = all.filter((each) => each.tags.includes(tag)).map(caseKey);
  const differences = DIFFERENCES.filter(({ cases }) => cases.some((key) => keys.includes(key)));
  const listed = new Set(differences.flatMap(({ cases }) => cases));
  const isMissing = keys.every((key) => listed.has(key)) && isAll(differences, 'unsupported');
  const verdict = differences.length === 0 ? 'yes' : isMissing ? 'no' : 'differs';
  return [code(tag), verdict, `${keys.length}`, differences.map(({ why }) => why).join('; ')];
}

function isAll(differences: readonly Difference[], kind: Difference['kind']): boolean {
  return differences.length > 0 && differences.every((difference) => difference.kind === kind);
}

function code(tag: string): string {
  if (!registeredNames().includes(tag)) return tag;
  return `\`${SPELLINGS.get(tag) ?? tag.toUpperCase()}\``;
}

function differenceLines({ kind, why, cases }: Difference): readonly string[] {
  const title = kind === 'unsupported' ? 'Not supported' : 'Differs';
  const queries = cases.map((sql) => `    ${sql.replaceAll('\n', '\n    ')}`);
  return [`${title}: ${why}.`, '', ...queries, ''];
}
