import type { SqlType } from '../../../engine/columns.ts';
import { reducing } from './aggregate-rows.ts';
import { exactProduct, INTEGER_BITS_MAX, roundedRatio, withExactList } from './exact-sql.ts';
import { refuse, UNSUPPORTED } from './refusal.ts';
import { overText } from './relation-sql.ts';
import { sortKeysOf } from './sort-sql.ts';
import type { StatementParts } from './statement-parts.ts';
import type { WindowStages } from './window-sql.ts';

type Percentile = {
  /** The column that holds the values. */
  readonly value: string;
  readonly type: SqlType;
  readonly fraction: number;
  /** The condition that a value counts. */
  readonly isCounted: string;
  readonly partition: readonly string[];
  readonly stages: WindowStages;
  readonly parts: StatementParts;
};

/** PERCENTILE_DISC and PERCENTILE_CONT: of the values that count, those at some places of their order. */
export function percentileSql(form: 'cont' | 'disc', of: Percentile): string {
  const { value, type, fraction, isCounted, partition, stages } = of;
  if (type.kind === 'DYNAMIC') return refuse('PERCENTILE_DISC of DYNAMIC', undefined);
  if (!(fraction >= 0 && fraction <= 1)) return refuse('this fraction of a percentile', undefined);
  const order = [isCounted, ...sortKeysOf(value, type)].map((sql, index) => ({
    sql,
    descending: index === 0,
    nullsFirst: true,
  }));
  const place = stages.prepared.add(`row_number()${overText({ partition, order })}`);
  const whole = overText({ partition, order: [] });
  const count = stages.prepared.add(`toInt64(countIf(${isCounted})${whole})`);
  const reduce = reducing(stages.reduced, { over: whole });
  const valueAt = (at: string) =>
    `${reduce('argMin', [`tuple(${value})`, place], `${place} = ${at} AND ${place} <= ${count}`)}.1`;
  if (form === 'disc') {
    const { whole: full, rest } = exactProduct(fraction, count);
    return valueAt(`greatest(1, ${full} + if(${rest} = 0, 0, 1))`);
  }
  const product = exactProduct(fraction, `(${count} - 1)`);
  const [left, right] = [valueAt(`${product.whole} + 1`), valueAt(`${product.whole} + 2`)];
  const { shift } = product;
  const rest = stages.reduced.add(product.rest);
  return between({ left, right, rest, shift }, of.parts);
}

/** `left + (right - left) * rest / 2^shift`, rounded once; beside a NULL the other value. */
function between(
  {
    left,
    right,
    rest,
    shift,
  }: {
    readonly left: string;
    readonly right: string;
    readonly rest: string;
    readonly shift: number;
  },
  parts: StatementParts,
): string {
  const part = `toFloat64(${rest}) * ${2 ** -shift}`;
  const infinite = `${left} * (1 - ${part}) + ${right} * ${part}`;
  const areFinite = `isFinite(${left}) AND isFinite(${right})`;
  const list = `if(ifNull(${areFinite}, 0), [assumeNotNull(${left}), assumeNotNull(${right})], [0., 0.])`;
  const exact = parts.once(list, (doubles) =>
    withExactList(doubles, parts, ({ units, exponent, bits }) => {
      const one = `toInt256('${1n << BigInt(Math.min(shift, INTEGER_BITS_MAX))}')`;
      const numerator = `${units}[1] * (${one} - ${rest}) + ${units}[2] * ${rest}`;
      const ratio = { numerator, denominator: '1', exponent: `${exponent} - ${shift}` };
      const raised = parts.raise(`${bits} + ${shift} > ${INTEGER_BITS_MAX}`, {
        code: 'query_failed',
        message: `${UNSUPPORTED} PERCENTILE_CONT between numbers that lie so far apart`,
        span: undefined,
      });
      return `if(${raised} = 0, ${roundedRatio({ ...ratio, form: 'ratio' }, parts)}, nan)`;
    }),
  );
  return `multiIf(${rest} = 0 OR isNull(${right}), ${left}, isNull(${left}), ${right}, NOT (${areFinite}), ${infinite}, ${exact})`;
}
