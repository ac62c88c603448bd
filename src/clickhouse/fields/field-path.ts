import { createHash } from 'node:crypto';
import { assert, type SqlType, unreachable } from '../../../engine/columns.ts';
import { dynamicElements, dynamicField, readDynamic } from '../render/dynamic-sql.ts';
import { asColumn, storedType } from '../render/sql-type.ts';
import { canRaise, StatementParts } from '../render/statement-parts.ts';

/** A step from a value to those inside it: the field of a record, or each element of a list. */
export type FieldStep = { readonly field: string } | 'each';

/** What the values at the end of a path are read as; `there`: they are counted, and not read. */
export type FieldRead = 'BOOL' | 'INT64' | 'FLOAT64' | 'NUMBER' | 'STRING' | 'DYNAMIC' | 'there';

/** Values in the events of a source, from their root record on, read as a type. */
export type FieldPath = {
  readonly source: string;
  readonly steps: readonly FieldStep[];
  readonly read: FieldRead;
};

/** A column of the table of events that holds the values of a path. */
export type FieldColumn = {
  readonly name: string;
  /** As ClickHouse writes it. */
  readonly type: string;
  /** Computes it from other columns of a row. */
  readonly expression: string;
  /** The path as a reader knows it. */
  readonly comment: string;
};

/** What the names of all columns of paths begin with. */
export const FIELD_COLUMN_START = 'field_';

/** Of a name, so that it can be read; the hash behind tells paths apart. */
const NAME_LENGTH_MAX = 48;
const HASH_LENGTH = 12;

const THERE: SqlType = { kind: 'BOOL' };

/**
 * The column of a path. Its name has a hash of the expression: another expression, such as that of another version of
 * weir, is another column.
 */
export function fieldColumnOf({ source, steps, read }: FieldPath): FieldColumn {
  const parts = new ConstantParts();
  const depth = steps.filter((step) => step === 'each').length;
  const inner = read === 'there' ? 'UInt8' : storedType(typeOf(read));
  const type = `${'Array('.repeat(depth)}${inner}${')'.repeat(depth)}`;
  const body = parts.variable();
  const value = valueIn(body, steps, { read, parts });
  const expression = `arrayMap(${body} -> ${value}, if(source = ${quoted(source)}, [body], []))[1]`;
  assert(!canRaise(expression), 'a field is read without errors');
  const comment = `${steps.map(stepText).join('').replace(/^\./, '')} as ${read}, of ${source}`;
  const hash = createHash('sha256').update(`${type} ${expression}`).digest('hex');
  const words = `${steps.map(stepText).join('')} ${read}`.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const shown = words.join('_').slice(0, NAME_LENGTH_MAX);
  return {
    name: `${FIELD_COLUMN_START}${shown}_${hash.slice(0, HASH_LENGTH)}`,
    ...{ type, expression, comment },
  };
}

/** Tells paths apart. */
export function keyOf({ source, steps, read }: FieldPath): string {
  return JSON.stringify([source, read, steps]);
}

export function typeOf(read: FieldRead): SqlType {
  return read === 'there' ? THERE : { kind: read };
}

function stepText(step: FieldStep): string {
  return step === 'each' ? '[]' : `.${step.field}`;
}

type Reading = { readonly read: FieldRead; readonly parts: StatementParts };

/** The values in the variable `body`. */
function valueIn(body: string, steps: readonly FieldStep[], reading: Reading): string {
  const quick = quickValue(body, steps, reading.read);
  if (quick === undefined) return valuesAt(`toNullable(${body})`, steps, reading);
  // As rows come in, ClickHouse computes all branches for each. Of a list without elements it computes nothing.
  const other = reading.parts.variable();
  const others = `arrayMap(${other} -> ${valuesAt(other, steps, reading)}, if(${quick.condition}, [], [toNullable(${body})]))[1]`;
  return `if(${quick.condition}, ${quick.value}, ${others})`;
}

/** The values as queries compute them where there is no column. */
function valuesAt(input: string, steps: readonly FieldStep[], reading: Reading): string {
  const { read, parts } = reading;
  const end = steps.indexOf('each');
  let found = input;
  for (const step of end < 0 ? steps : steps.slice(0, end)) {
    assert(step !== 'each', 'the steps before a list are fields');
    found = dynamicField(found, step.field, parts);
  }
  if (end < 0) {
    if (read === 'there') return 'toUInt8(1)';
    const type = typeOf(read);
    return asColumn(readDynamic(found, type, { parts }), type);
  }
  const element = parts.variable();
  const value = valuesAt(element, steps.slice(end + 1), reading);
  return parts.once(
    dynamicElements(found, parts),
    (list) => `arrayMap(${element} -> ${value}, ${list})`,
  );
}

/**
 * The same value where all records on the path are the only ones in their lists, as `body` has a record, have the fields
 * in this spelling, and end in a value of the usual kind: nearly always. It takes a tenth of the time.
 */
function quickValue(
  body: string,
  steps: readonly FieldStep[],
  read: FieldRead,
): { readonly condition: string; readonly value: string } | undefined {
  const conditions: string[] = [];
  let at = body;
  let depth = 0;
  for (const [index, step] of steps.entries()) {
    const isAfterField = index > 0 && steps[index - 1] !== 'each';
    if (step === 'each') depth += 1;
    if (step === 'each' && !isAfterField) return undefined;
    if (isAfterField) {
      conditions.push(`JSONType(${at}) = 'Array'`, `JSONLength(${at}) = 1`);
      at += ', 1';
    }
    if (step !== 'each') at += `, ${quoted(step.field)}`;
  }
  const isOfElement = steps.at(-1) === 'each';
  if (isOfElement !== (read === 'there')) return undefined;
  const last = quickRead(at, read);
  const condition = [...conditions, ...last.conditions].join(' AND ');
  return { condition, value: `${'['.repeat(depth)}${last.value}${']'.repeat(depth)}` };
}

/** Whole numbers of so many digits are in any number type. */
const WHOLE = "'^-?[0-9]{1,15}$'";

/** `at` are the arguments of ClickHouse's functions of JSON that lead to a value. */
function quickRead(
  at: string,
  read: FieldRead,
): { readonly conditions: readonly string[]; readonly value: string } {
  const raw = `JSONExtractRaw(${at})`;
  const whole = `toInt64OrNull(${raw})`;
  switch (read) {
    case 'there':
      return { conditions: [], value: 'toUInt8(1)' };
    case 'STRING':
      return {
        conditions: [`JSONType(${at}) = 'String'`],
        value: `toNullable(JSONExtractString(${at}))`,
      };
    case 'INT64':
      return { conditions: [`match(${raw}, ${WHOLE})`], value: whole };
    case 'NUMBER':
      return {
        conditions: [`match(${raw}, ${WHOLE})`],
        value: `CAST(tuple(${whole}, NULL), '${storedType({ kind: 'NUMBER' })}')`,
      };
    case 'FLOAT64':
      return {
        conditions: [`match(${raw}, ${WHOLE})`],
        value: `toNullable(toFloat64(assumeNotNull(${whole})))`,
      };
    case 'BOOL':
      return {
        conditions: [`${raw} IN ('true', 'false')`],
        value: `toNullable(toUInt8(${raw} = 'true'))`,
      };
    case 'DYNAMIC':
      return { conditions: [`${raw} NOT IN ('', 'null')`], value: `toNullable(${raw})` };
    default:
      return unreachable(read);
  }
}

/** Texts are written into the statement: what defines a column takes no parameters. */
class ConstantParts extends StatementParts {
  override text(text: string): string {
    // Refuses what no text of ClickHouse can hold.
    super.text(text);
    return quoted(text);
  }
}

export function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
