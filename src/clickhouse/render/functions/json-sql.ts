import { elementTypeOf, QueryError, type SqlType } from '../../../../engine/columns.ts';
import { type JsonStep, parseJsonPath } from '../../../../engine/index.ts';
import { floatText } from '../dynamic-sql.ts';
import { intervalText } from '../interval-sql.ts';
import {
  doubleJson,
  elementsOf,
  foundJson,
  jsonString,
  normalText,
  preparedJson,
  restoredJson,
  type Steps,
  scalarText,
  stepsSql,
} from '../json-text-sql.ts';
import { refuse } from '../refusal.ts';
import { asColumn, nullOf, storedType } from '../sql-type.ts';
import { dateText, datetimeText, timeOfDayText } from '../time-sql.ts';
import {
  type CallSql,
  checked,
  constantOf,
  type FunctionSql,
  failing,
  orFailure,
  refuseTypes,
  strict,
} from './function-sql.ts';

/** Of texts and of JSON, with constant paths. */
export const jsonSql: Readonly<Record<string, FunctionSql>> = {
  json_value: atPath(scalarAt),
  json_extract_scalar: atPath(scalarAt),
  json_query: atPath(jsonAt),
  json_extract: atPath(jsonAt),
  json_value_array: atPath(scalarsAt),
  json_extract_string_array: atPath(scalarsAt),
  json_query_array: atPath(elementsAt),
  json_extract_array: atPath(elementsAt),
  json_field: stepInto,
  parse_json: parse,
  to_json_string: (call) => written(call, { exact: false }),
  to_json: (call) => written(call, { exact: true }),
};

type AtPath = (call: CallSql, steps: Steps) => string;

/** `json` is a name of a prepared text. */
function atPath(read: AtPath): FunctionSql {
  return (call) => {
    const kind = call.types[0]!.kind;
    if (kind !== 'STRING' && kind !== 'JSON') return refuseTypes(call);
    const path = call.arguments.length === 1 ? '$' : constantOf(call, 1);
    if (path === null) return nullOf(call.type);
    const steps = orFailure(() => parseJsonPath(String(path)));
    if (steps instanceof QueryError) return failing(call, steps);
    return strict(call, (text) => {
      return call.parts.once(preparedJson(text!, call), (json) =>
        read(call, stepsSql(json, steps as readonly JsonStep[], call)),
      );
    });
  };
}

function scalarAt(call: CallSql, steps: Steps): string {
  return scalarText(foundJson(steps), call);
}

/** Of a text a null is NULL; of a JSON value it is one. */
function jsonAt(call: CallSql, steps: Steps): string {
  const isText = call.types[0]!.kind === 'STRING';
  return call.parts.once(foundJson(steps), (found) => {
    const none = isText ? `${found} IN ('', 'null')` : `${found} = ''`;
    return `if(${none}, NULL, ${restoredJson(found, call.parts)})`;
  });
}

/** The elements of a list, if all are scalars or null. */
function scalarsAt(call: CallSql, steps: Steps): string {
  const each = call.parts.variable();
  return listAt(call, steps, (list) => {
    const isNested = `arrayExists(${each} -> startsWith(${each}, '{') OR startsWith(${each}, '['), ${list})`;
    const texts = `arrayMap(${each} -> ${scalarText(each, call)}, ${list})`;
    return `if(${isNested}, [], [${texts}])`;
  });
}

function elementsAt(call: CallSql, steps: Steps): string {
  const each = call.parts.variable();
  return listAt(call, steps, (list) => {
    return `[arrayMap(${each} -> ${restoredJson(each, call.parts)}, ${list})]`;
  });
}

function listAt(call: CallSql, steps: Steps, read: (list: string) => string): string {
  const { parts, type } = call;
  return parts.once(foundJson(steps), (found) => {
    const value = parts.once(elementsOf(found), read);
    return `CAST(if(startsWith(${found}, '['), ${value}, []), '${storedType(type)}')`;
  });
}

/** A member by its name, or an element by its position from 0. */
function stepInto(call: CallSql): string {
  const step = constantOf(call, 1);
  if (step === null) return nullOf(call.type);
  const isPosition = call.types[1]!.kind === 'INT64';
  if (isPosition && !(Number(step) >= 0)) return nullOf(call.type);
  const steps = [isPosition ? Number(step) : String(step)];
  return strict(call, (text) =>
    call.parts.once(preparedJson(text!, call), (json) =>
      call.parts.once(foundJson(stepsSql(json, steps, call)), (found) => {
        return `if(${found} = '', NULL, ${restoredJson(found, call.parts)})`;
      }),
    ),
  );
}

function parse(call: CallSql): string {
  const { parts } = call;
  return strict(call, (text) =>
    parts.once(preparedJson(text!, call, { normal: true }), (json) => {
      // The raw text of the whole has no white space.
      const value = normalText(`JSONExtractRaw(${json})`, call);
      return checked(call, value, `${json} = ''`, 'PARSE_JSON takes JSON');
    }),
  );
}

type Writing = { readonly exact: boolean };

/** TO_JSON_STRING, and TO_JSON where numbers are exact. NULL is `null`. */
function written(call: CallSql, writing: Writing): string {
  const isPretty = call.arguments.length > 1 ? constantOf(call, 1) : false;
  if (isPretty === null) return nullOf(call.type);
  if (isPretty !== false) return refuse('TO_JSON_STRING with lines', call.span);
  return jsonOf(call.arguments[0]!, call.types[0]!, { ...writing, call });
}

/** Up to here, 2^53, every integer is a double of its own. */
const EXACT_MAX = '9007199254740992';

/** A value as JSON: a text that is no NULL. */
export function jsonOf(
  value: string,
  type: SqlType,
  context: Writing & { readonly call: CallSql },
): string {
  const { call, exact } = context;
  const { parts } = call;
  const orNull = (body: (known: string) => string) =>
    parts.once(value, (name) => `if(isNull(${name}), 'null', ${body(`assumeNotNull(${name})`)})`);
  const quoted = (text: string) => `concat('"', ${text}, '"')`;
  switch (type.kind) {
    case 'NULL':
      return `'null'`;
    case 'JSON':
      return `ifNull(${value}, 'null')`;
    case 'BOOL':
      return orNull((truth) => `if(${truth}, 'true', 'false')`);
    case 'INT64':
      return orNull((number) => {
        const isExact = `${number} BETWEEN -${EXACT_MAX} AND ${EXACT_MAX}`;
        const digits = `toString(${number})`;
        return exact ? digits : `if(${isExact}, ${digits}, ${quoted(digits)})`;
      });
    case 'FLOAT64':
      return orNull((number) => {
        const word = `multiIf(isNaN(${number}), '"NaN"', ${number} > 0, '"Infinity"', '"-Infinity"')`;
        const text = exact
          ? doubleJson(number, parts)
          : `assumeNotNull(${floatText(number, parts)})`;
        return `if(isFinite(${number}), ${text}, ${word})`;
      });
    case 'STRING':
      return orNull((text) =>
        exact ? jsonString(text, parts) : lineSafe(jsonString(text, parts), parts),
      );
    case 'BYTES':
      return orNull((bytes) => quoted(`base64Encode(${bytes})`));
    case 'TIMESTAMP':
      return orNull((us) =>
        quoted(`replaceOne(concat(${datetimeText(us, parts)}, 'Z'), ' ', 'T')`),
      );
    case 'DATETIME':
      return orNull((us) => quoted(`replaceOne(${datetimeText(us, parts)}, ' ', 'T')`));
    case 'DATE':
      return orNull((day) => quoted(dateText(day, parts)));
    case 'TIME':
      return orNull((us) => quoted(timeOfDayText(us, parts)));
    case 'INTERVAL':
      return parts.once(value, (interval) => {
        const text = parts.once(`${interval}[1]`, (amounts) => intervalText(amounts, parts));
        return `if(empty(${interval}), 'null', ${quoted(text)})`;
      });
    case 'ARRAY': {
      const each = parts.variable();
      const element = jsonOf(each, elementTypeOf(type), context);
      return parts.once(
        value,
        (list) =>
          `if(empty(${list}), 'null', concat('[', arrayStringConcat(arrayMap(${each} -> ${element}, ${list}[1]), ','), ']'))`,
      );
    }
    case 'STRUCT':
      return parts.once(
        value,
        (record) => `if(empty(${record}), 'null', ${fieldsOf(record, type, context)})`,
      );
    default:
      return refuseTypes(call);
  }
}

/** The two line breaks that JSON allows and JavaScript did not are escaped, as GoogleSQL has them. */
function lineSafe(json: string, parts: CallSql['parts']): string {
  const [line, paragraph] = ['\u2028', '\u2029'].map((each) => parts.text(each));
  return `replaceAll(replaceAll(${json}, ${line}, ${parts.text('\\u2028')}), ${paragraph}, ${parts.text('\\u2029')})`;
}

/** Members of a JSON value stand in the order of their names, the first of each. */
function fieldsOf(
  record: string,
  type: Extract<SqlType, { readonly kind: 'STRUCT' }>,
  context: Writing & { readonly call: CallSql },
): string {
  const { parts } = context.call;
  const all = type.fields.map((field, index) => ({
    name: field.name ?? '',
    type: field.type,
    index,
  }));
  const first = all.filter(
    ({ name, index }) => all.findIndex((each) => each.name === name) === index,
  );
  const order = (left: string, right: string) =>
    Buffer.compare(Buffer.from(left), Buffer.from(right));
  const fields = context.exact
    ? first.toSorted((left, right) => order(left.name, right.name))
    : all;
  const texts = fields.map((field) => {
    const value = jsonOf(
      asColumn(`${record}[1].${field.index + 1}`, field.type),
      field.type,
      context,
    );
    return `${parts.text(`${JSON.stringify(field.name)}:`)}, ${value}`;
  });
  return `concat('{', ${texts.join(", ',', ")}, '}')`;
}
