import { aggregateFunctionNames } from '../../engine/aggregate/registry.ts';
import { scalarFunctionNames } from '../../engine/function/registry.ts';
import { renderedAggregateNames } from '../../src/clickhouse/render/aggregate-sql.ts';
import { renderedFunctionNames } from '../../src/clickhouse/render/functions/registry.ts';
import type { ConformanceCase } from '../conformance/case-file.ts';
import type { Outcome } from './store-outcome.ts';

type Outcomes = readonly (readonly [ConformanceCase, Outcome | undefined])[];

/** SUPPORT.md: what the ClickHouse store answers as the embedded engine does, and what it refuses. */
export function supportPage(outcomes: Outcomes): string {
  const known = outcomes.flatMap(([each, outcome]) =>
    outcome === undefined ? [] : [[each, outcome] as const],
  );
  const sameCount = known.filter(([, { kind }]) => kind === 'same').length;
  const differentCount = known.filter(([, { kind }]) => kind === 'differs').length;
  const registered = [...scalarFunctionNames(), ...aggregateFunctionNames()];
  const [functionCount, aggregateCount] = [scalarFunctionNames(), aggregateFunctionNames()].map(
    ({ length }) => length,
  );
  const clauses = [...new Set(known.flatMap(([{ tags }]) => tags))].filter(
    (tag) => !registered.includes(tag),
  );
  return [
    '# What ClickHouse answers',
    '',
    'The conformance cases that the embedded engine answers, run on the same events in ClickHouse. Constants are left to',
    `ClickHouse to compute. ${sameCount} of ${known.length} have the same rows, or the same error; ${differentCount} differ, in sums of fractions.`,
    'All others are refused before they are run.',
    '',
    `${renderedFunctionNames().length} of ${functionCount} scalar functions and operators, and ${renderedAggregateNames().length} of ${aggregateCount} aggregates, are rendered`,
    'for some types of arguments at least.',
    '',
    'This page is written by `WEIR_UPDATE_GOLDEN=1 node --import tsx --test test/clickhouse/conformance.test.ts`.',
    '',
    '## Clauses and forms',
    '',
    ...table(clauses.map((tag) => rowOf(tag, known))),
    '',
    '## Functions and operators',
    '',
    ...table(registered.map((tag) => rowOf(tag, known))),
    '',
  ].join('\n');
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  return [
    '| tested | ClickHouse | same | refused |',
    '|---|---|---|---|',
    ...rows.map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`),
  ];
}

function rowOf(
  tag: string,
  all: readonly (readonly [ConformanceCase, Outcome])[],
): readonly string[] {
  const own = all.filter(([{ tags }]) => tags.includes(tag)).map(([, outcome]) => outcome);
  const same = own.filter(({ kind }) => kind === 'same').length;
  const refused = own.filter(({ kind }) => kind === 'refused').length;
  const verdict =
    own.length === 0
      ? 'not tested'
      : same === own.length
        ? 'same'
        : same === 0
          ? 'refused'
          : 'in part';
  return [`\`${tag}\``, verdict, String(same), String(refused)];
}
