import type { Span } from '../../../engine/columns.ts';
import type { Amounts } from './interval-sql.ts';
import type { StatementParts } from './statement-parts.ts';

const WHOLE = '([0-9]{1,19})';
/** Digits, a fraction, or both. */
const SECONDS = '([0-9]{0,19})(?:\\.([0-9]{1,9}))?';

/** The forms of a text whose parts are not told, and of which amount and unit each group is. */
const FORMS: readonly { readonly pattern: string; readonly units: readonly Unit[] }[] = [
  {
    pattern: `^([+-]?)${WHOLE}-${WHOLE}(?: ([+-]?)${WHOLE}(?: ([+-]?)${WHOLE}(?::${WHOLE}(?::${SECONDS})?)?)?)?$`,
    units: ['sign', 'YEAR', 'MONTH', 'sign', 'DAY', 'sign', 'HOUR', 'MINUTE', 'SECOND', 'fraction'],
  },
  {
    pattern: `^([+-]?)${WHOLE} ([+-]?)${WHOLE}:${WHOLE}(?::${SECONDS})?$`,
    units: ['sign', 'DAY', 'sign', 'HOUR', 'MINUTE', 'SECOND', 'fraction'],
  },
  {
    pattern: `^([+-]?)${WHOLE}:${WHOLE}:${SECONDS}$`,
    units: ['sign', 'HOUR', 'MINUTE', 'SECOND', 'fraction'],
  },
];

type Unit = keyof typeof AMOUNTS | 'sign' | 'fraction';

/** What one of a unit is: of which amount, and how much of it. */
const AMOUNTS = {
  YEAR: ['months', 12],
  MONTH: ['months', 1],
  WEEK: ['days', 7],
  DAY: ['days', 1],
  HOUR: ['us', 3_600_000_000],
  MINUTE: ['us', 60_000_000],
  SECOND: ['us', 1_000_000],
} as const;

type Context = { readonly parts: StatementParts; readonly span: Span | undefined };

/** The amounts of a text in 128 bits, as a tuple in a list; an empty list of a text that is none. */
export function amountsOfText(text: string, { parts }: Context): string {
  const forms = FORMS.map(({ pattern, units }) =>
    parts.once(`extractGroups(${text}, ${parts.text(pattern)})`, (groups) => {
      const amounts = amountsOfGroups((index) => `${groups}[${index + 1}]`, units);
      const second = units.indexOf('SECOND') + 1;
      const fraction = `${groups}[${second + 1}]`;
      // A colon asks for digits or a fraction behind it.
      const isBare = `endsWith(${text}, ':')`;
      const isBad = `empty(${groups}) OR ${isBare} OR ${isTooFine(fraction)}`;
      return `if(${isBad}, [], [${tupleOf(amounts)}])`;
    }),
  );
  const all = `arrayConcat(${forms.join(', ')})`;
  return `if(startsWith(${text}, 'P'), ${isoAmounts(text, parts)}, ${all})`;
}

function tupleOf({ months, days, us }: Amounts): string {
  return `tuple(${[months, days, us].map((each) => `toInt128(${each})`).join(', ')})`;
}

function digits(text: string): string {
  return `toInt128OrZero(${text})`;
}

/** Digits beyond microseconds that are not 0 would be another INTERVAL than the text says. */
function isTooFine(fraction: string): string {
  return `match(substring(${fraction}, 7), '[1-9]')`;
}

function micros(fraction: string): string {
  return digits(`rightPad(substring(${fraction}, 1, 6), 6, '0')`);
}

/** Each sign is that of all amounts up to the next one. */
function amountsOfGroups(group: (index: number) => string, units: readonly Unit[]): Amounts {
  const sums = { months: ['0'], days: ['0'], us: ['0'] };
  let sign = '1';
  for (const [index, unit] of units.entries()) {
    if (unit === 'sign') sign = `if(${group(index)} = '-', -1, 1)`;
    else if (unit === 'fraction') sums.us.push(`${sign} * ${micros(group(index))}`);
    else {
      const [amount, size] = AMOUNTS[unit];
      sums[amount].push(`${sign} * ${digits(group(index))} * ${size}`);
    }
  }
  const [months, days, us] = [sums.months, sums.days, sums.us].map((all) => all.join(' + '));
  return { months: months!, days: days!, us: us! };
}

const ISO =
  '^P((?:-?[0-9]{1,19}[YMWD])*)(T(?:-?[0-9]{1,19}[HM]|-?[0-9]{1,19}(?:\\.[0-9]{1,9})?S)*)?$';
const ISO_PIECE = '(-?)([0-9]+)(?:\\.([0-9]+))?([A-Z])';
const ISO_DATE: Readonly<Record<string, keyof typeof AMOUNTS>> = {
  ...{ Y: 'YEAR', M: 'MONTH', W: 'WEEK', D: 'DAY' },
};
const ISO_TIME: Readonly<Record<string, keyof typeof AMOUNTS>> = {
  ...{ H: 'HOUR', M: 'MINUTE', S: 'SECOND' },
};

/** `P1Y2M3DT4H5M6.7S`: units in any order, and as often as they stand there. */
function isoAmounts(text: string, parts: StatementParts): string {
  const piece = parts.variable();
  const sign = `if(${piece}[1] = '-', -1, 1)`;
  const sum = (pieces: string, units: typeof ISO_DATE, amount: keyof Amounts) => {
    const sizes = Object.entries(units).flatMap(([letter, unit]) =>
      AMOUNTS[unit][0] === amount ? [`${piece}[4] = '${letter}', ${AMOUNTS[unit][1]}`] : [],
    );
    const fraction = amount === 'us' ? ` + ${micros(`${piece}[3]`)}` : '';
    const size = `multiIf(${sizes.join(', ')}, 0)`;
    const each = `${sign} * (${digits(`${piece}[2]`)} * ${size}${fraction})`;
    return `arraySum(arrayMap(${piece} -> ${each}, ${pieces}))`;
  };
  const pattern = parts.text(ISO_PIECE);
  return parts.once(`extractGroups(${text}, ${parts.text(ISO)})`, (groups) => {
    const [dates, times] = [1, 2].map(
      (index) => `extractAllGroupsVertical(${groups}[${index}], ${pattern})`,
    );
    const amounts: Amounts = {
      months: sum(dates!, ISO_DATE, 'months'),
      days: sum(dates!, ISO_DATE, 'days'),
      us: sum(times!, ISO_TIME, 'us'),
    };
    const isFine = `arrayExists(${piece} -> ${isTooFine(`${piece}[3]`)}, ${times})`;
    return `if(empty(${groups}) OR ${text} = 'P' OR ${isFine}, [], [${tupleOf(amounts)}])`;
  });
}
