import type { Operation } from './operation.ts';
import { lazy, strict } from './operation-maker.ts';
import type { Type, Value } from './query.ts';

const ELEMENTS = ['INT64', 'FLOAT64', 'STRING', 'TIMESTAMP', 'DATE'] as const;

/** On lists, and records that are written out. */
export function lists(): readonly Operation[] {
  return [
    ...ELEMENTS.flatMap((element): readonly Operation[] => {
      const list: Type = `${element}[]`;
      return [
        lazy('[?, ?]', [element, element], list, (one, other) => [one(), other()]),
        strict('ARRAY_REVERSE(?)', [list], list, (values: readonly Value[]) => values.toReversed()),
        strict(
          'ARRAY_CONCAT(?, ?)',
          [list, list],
          list,
          (one: readonly Value[], other: readonly Value[]) => [...one, ...other],
        ),
        lazy('STRUCT(? AS a, ? AS b).a', [element, 'BOOL'], element, (one) => one()),
        lazy(
          '[STRUCT(? AS a, ? AS b), STRUCT(? AS a, ? AS b)][SAFE_OFFSET(1)].b',
          ['INT64', element, 'INT64', element],
          element,
          (_a, _b, _c, second) => second(),
        ),
      ];
    }),
    strict('GENERATE_ARRAY(MOD(?, 5), 3)', ['INT64'], 'INT64[]', (value: bigint) =>
      series(value % 5n, 3n, 1n),
    ),
    strict('GENERATE_ARRAY(3, MOD(?, 5), -2)', ['INT64'], 'INT64[]', (value: bigint) =>
      series(3n, value % 5n, -2n),
    ),
    strict("ARRAY_TO_STRING(?, '-')", ['STRING[]'], 'STRING', (values: readonly Value[]) =>
      values.filter((value) => value !== null).join('-'),
    ),
    strict("ARRAY_TO_STRING(?, ',', '~')", ['STRING[]'], 'STRING', (values: readonly Value[]) =>
      values.map((value) => value ?? '~').join(','),
    ),
    strict("SPLIT(?, 'x')", ['STRING'], 'STRING[]', (text: string) => text.split('x')),
    strict("SPLIT(?, '')", ['STRING'], 'STRING[]', (text: string) =>
      text === '' ? [''] : [...text],
    ),
    strict("REGEXP_EXTRACT_ALL(?, '[xy]')", ['STRING'], 'STRING[]', (text: string) => [
      ...(text.match(/[xy]/gu) ?? []),
    ]),
    strict('RANGE_BUCKET(?, [0, 2, 4])', ['INT64'], 'INT64', (value: bigint) =>
      BigInt([0n, 2n, 4n].filter((bound) => bound <= value).length),
    ),
  ];
}

function series(start: bigint, end: bigint, step: bigint): readonly bigint[] {
  const list: bigint[] = [];
  for (let at = start; step > 0n ? at <= end : at >= end; at += step) list.push(at);
  return list;
}
