import { GENERATED_ARRAY_MAX } from '../../../../engine/columns.ts';
import { refuse } from '../refusal.ts';
import { storedType } from '../sql-type.ts';
import { addMonths, civilDate } from '../time-sql.ts';
import { type CallSql, checked, type FunctionSql, refuseTypes, strict } from './function-sql.ts';
import { LENGTHS_MONTHS, LENGTHS_US, partOf } from './time-argument.ts';

/** Arrays of numbers and times at equal distances. */
export const seriesSql: Readonly<Record<string, FunctionSql>> = {
  generate_array: numbers,
  generate_date_array: days,
  generate_timestamp_array: (call) => {
    const lengthUs = LENGTHS_US.get(partOf(call, 3));
    if (lengthUs === undefined) return refuseTypes(call);
    return strict(call, (start, end, count) =>
      series(call, { start: start!, end: end!, step: `toInt128(${count}) * ${lengthUs}` }),
    );
  },
  generate_timestamp_trunc_array: truncatedSeries,
};

type Series = { readonly start: string; readonly end: string; readonly step: string };

/** Whole numbers from the first by steps to the second; none where the step points away from it. */
function series(call: CallSql, { start, end, step }: Series): string {
  const { parts } = call;
  return parts.once(step, (distance) => {
    const by = `if(${distance} = 0, toInt128(1), ${distance})`;
    const isAway = `(${distance} > 0 AND ${end} < ${start}) OR (${distance} < 0 AND ${end} > ${start})`;
    const count = `if(${isAway}, toInt128(0), intDiv(toInt128(${end}) - ${start}, ${by}) + 1)`;
    return parts.once(count, (size) => {
      const index = parts.variable();
      const list = `arrayMap(${index} -> toInt64(${start} + ${index} * ${distance}), range(toUInt64(${size})))`;
      return stepped(call, sized(call, list, size), `${distance} = 0`);
    });
  });
}

function sized(call: CallSql, list: string, count: string): string {
  const value = `CAST([${list}], '${storedType(call.type)}')`;
  const message = `a generated array has at most ${GENERATED_ARRAY_MAX} elements`;
  return checked(call, value, `${count} > ${GENERATED_ARRAY_MAX}`, message, 'query_limit');
}

function stepped(call: CallSql, value: string, isZero: string): string {
  return checked(call, value, isZero, `${call.name.toUpperCase()} takes a step other than 0`);
}

function numbers(call: CallSql): string {
  const isWhole = call.types.every(({ kind }) => kind === 'INT64');
  return strict(call, (start, end, step = 'toInt64(1)') => {
    if (isWhole) {
      return series(call, { start: start!, end: end!, step: `toInt128(${step})` });
    }
    if (call.types.some(({ kind }) => kind !== 'INT64' && kind !== 'FLOAT64'))
      return refuseTypes(call);
    const [first, last, distance] = [start, end, step].map((each) => `toFloat64(${each})`);
    return fractions(call, { start: first!, end: last!, step: distance! });
  });
}

/** The quotient is rounded: the last element is the last that does not pass the end. */
function fractions(call: CallSql, { start, end, step }: Series): string {
  const { parts } = call;
  const by = `if(${step} = 0, 1., ${step})`;
  const passes = (count: string) =>
    `${count} > 1 AND abs((${count} - 1) * ${step}) > abs(${end} - ${start})`;
  return parts.once(`floor((${end} - ${start}) / ${by}) + 1`, (near) =>
    parts.once(`if(${passes(near)}, ${near} - 1, ${near})`, (less) =>
      parts.once(`if(${passes(less)}, ${less} - 1, ${less})`, (count) => {
        const index = parts.variable();
        const isAway = `${start} != ${end} AND (${end} < ${start}) != (${step} < 0)`;
        const size = `if(${isAway}, 0., ${count})`;
        const list = `arrayMap(${index} -> ${start} + ${index} * ${step}, range(toUInt64(${size})))`;
        const numbers = [start, end, step].map((each) => `isFinite(${each})`).join(' AND ');
        const message = 'GENERATE_ARRAY takes finite numbers';
        const finite = checked(call, sized(call, list, size), `NOT (${numbers})`, message);
        return stepped(call, finite, `${step} = 0`);
      }),
    ),
  );
}

/** Each day is the step from the one before it, so a month's last day that was cut short stays so. */
function days(call: CallSql): string {
  const { parts } = call;
  const part = call.arguments.length < 4 ? 'DAY' : partOf(call, 3);
  return strict(call, (start, end, count = 'toInt64(1)') => {
    const dayCount = { DAY: 1, WEEK: 7 }[part];
    if (dayCount !== undefined) {
      return series(call, { start: start!, end: end!, step: `toInt128(${count}) * ${dayCount}` });
    }
    const months = LENGTHS_MONTHS.get(part);
    if (months === undefined) return refuse(`a step of ${part}`, call.span);
    const monthOf = (day: string) =>
      civilDate(day, parts, ({ year, month }) => `toInt64(${year} * 12 + ${month})`);
    return parts.once(`toInt128(${count}) * ${months}`, (step) => {
      const by = `if(${step} = 0, toInt128(1), ${step})`;
      const isAway = `(${step} > 0 AND ${end} < ${start}) OR (${step} < 0 AND ${end} > ${start})`;
      const steps = `if(${isAway}, 0, toUInt64(intDiv(toInt128(${monthOf(end!)}) - ${monthOf(start!)}, ${by})))`;
      const [all, index] = [parts.variable(), parts.variable()];
      const next = `assumeNotNull(${addMonths(`${all}[-1]`, step, parts)})`;
      const walked = `arrayFold((${all}, ${index}) -> arrayPushBack(${all}, ${next}), range(${steps}), [${start}])`;
      const day = parts.variable();
      const isInside = `if(${step} > 0, ${day} <= ${end}, ${day} >= ${end})`;
      const list = `arrayFilter(${day} -> ${isInside}, ${walked})`;
      return stepped(call, `CAST([${list}], '${storedType(call.type)}')`, `${step} = 0`);
    });
  });
}

/** Words of the window's unit and step, the shortest first. */
const WINDOW_UNITS = ['second', 'minute', 'hour', 'day'];

/** From so many units ago up to now, the starts of all steps. */
function truncatedSeries(call: CallSql): string {
  const window = call.expressions[1];
  const words = window?.op === 'literal' ? String(window.value).toLowerCase().split('_') : [];
  const [unit, step] = words.map((word) => WINDOW_UNITS.indexOf(word)) as [number, number];
  if (words.length !== 2 || !(step >= 0) || unit < step) return refuseTypes(call);
  const [unitUs, stepUs] = words.map((word) => LENGTHS_US.get(word.toUpperCase())!) as [
    number,
    number,
  ];
  return strict(call, (count, _, now) => {
    const cut = (us: string) => `(${us} - positiveModulo(${us}, toInt128(${stepUs})))`;
    const start = `toInt128(${now}) - toInt128(${count}) * ${unitUs}`;
    const ends = {
      start: cut(`(${start})`),
      end: cut(`toInt128(${now})`),
      step: `toInt128(${stepUs})`,
    };
    const message =
      'GENERATE_TIMESTAMP_TRUNC_ARRAY takes a count of at least 0, and times of the years 1 to 9999';
    return checked(
      call,
      series(call, ends),
      `${count} < 0 OR ${start} < -62135596800000000`,
      message,
    );
  });
}
