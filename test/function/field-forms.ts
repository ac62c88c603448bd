import { aggregateFunctionNames, findAggregateFunction } from '../../engine/aggregate/registry.ts';
import type { SqlType } from '../../engine/column/type.ts';
import { typeName } from '../../engine/column/type.ts';
import { findScalarFunction, scalarFunctionNames } from '../../engine/function/registry.ts';
import type { ParameterType } from '../../engine/function/scalar-function.ts';
import { findWindowFunction, windowFunctionNames } from '../../engine/operator/window-functions.ts';
import { planText } from '../../engine/plan/plan-text.ts';
import { QueryError } from '../../engine/query-error.ts';
import { bind } from '../plan/bind-check.ts';

/** A call of a function or operator of the registries with a field as one of its arguments. */
export type FieldForm = {
  /** The text, `·` for the field, and types for what else stands in it. */
  readonly text: string;
  /** The call, given the text of the field's place. */
  readonly write: (field: string) => string;
  /** As what the field is read there: a type, `CAST STRING`, or DYNAMIC for what it is. */
  readonly reading: string;
};

/** Every place in which a field may stand, once for each way in which it is read there. */
export function fieldForms(): readonly FieldForm[] {
  const forms = [...scalarCalls(), ...aggregateCalls(), ...windowCalls()].flatMap(formsOf);
  const first = new Map<string, FieldForm>();
  for (const { place, form } of forms) {
    const key = `${place} ${form.reading}`;
    if (!first.has(key)) first.set(key, form);
  }
  return [...first.values()];
}

type Call = {
  readonly name: string;
  readonly parameters: readonly ParameterType[];
  readonly part: string;
  readonly write: (inputs: readonly string[]) => string;
};

function* scalarCalls(): Generator<Call> {
  for (const name of scalarFunctionNames()) {
    for (const overload of findScalarFunction(name)!.overloads) {
      const { variadic } = overload;
      const own = [...overload.parameters, ...(variadic === undefined ? [] : [variadic])];
      // The run's clock is written by nobody.
      const parameters = findScalarFunction(name)!.readsClock === true ? own.slice(0, -1) : own;
      const part = overload.parts?.includes('DAY') === true ? 'DAY' : (overload.parts?.[0] ?? '');
      yield { name, parameters, part, write: (inputs) => writeScalar(name, inputs) };
    }
  }
}

function* aggregateCalls(): Generator<Call> {
  for (const name of aggregateFunctionNames()) {
    for (const { parameters, constants = [] } of findAggregateFunction(name)!.overloads) {
      const rest = constants.map((type) => sampleOf(type, '', name));
      const write = (inputs: readonly string[]) => `${name.toUpperCase()}(${[...inputs, ...rest]})`;
      if (parameters.length > 0) yield { name, parameters, part: '', write };
    }
  }
}

function* windowCalls(): Generator<Call> {
  for (const name of windowFunctionNames()) {
    for (const { parameters } of findWindowFunction(name)!.overloads) {
      const isPercentile = name.startsWith('percentile');
      const over = isPercentile ? 'OVER ()' : 'OVER (ORDER BY id)';
      const own = parameters.slice(0, 1);
      const rest = isPercentile ? ['0.5'] : name === 'nth_value' ? ['1'] : [];
      const write = (inputs: readonly string[]) =>
        `${name.toUpperCase()}(${[...inputs, ...rest].join(', ')}) ${over}`;
      if (own.length > 0 && name !== 'ntile') yield { name, parameters: own, part: '', write };
    }
  }
}

const INFIX: ReadonlySet<string> = new Set([
  ...['+', '-', '*', '/', '||', '=', '!=', '<', '<=', '>', '>=', 'like', 'and', 'or'],
  ...['&', '|', '^', '<<', '>>'],
]);

const SPELLINGS: ReadonlyMap<string, (inputs: readonly string[]) => string> = new Map<
  string,
  (inputs: readonly string[]) => string
>([
  ['not', ([input]) => `NOT ${input}`],
  ['neg', ([input]) => `-${input}`],
  ['~', ([input]) => `~${input}`],
  ['is_null', ([input]) => `${input} IS NULL`],
  ['is_true', ([input]) => `${input} IS TRUE`],
  ['is_false', ([input]) => `${input} IS FALSE`],
  ['is_distinct', ([left, right]) => `${left} IS DISTINCT FROM ${right}`],
  ['in', ([input, item]) => `${input} IN (${item})`],
  ['in_array', ([input, list]) => `${input} IN UNNEST(${list})`],
  ['interval', ([amount, part]) => `INTERVAL ${amount} ${part}`],
  [
    'extract',
    ([part, time, zone]) =>
      `EXTRACT(${part} FROM ${time}${zone === undefined ? '' : ` AT TIME ZONE ${zone}`})`,
  ],
  ...['offset', 'safe_offset', 'ordinal', 'safe_ordinal'].map(
    (mode) =>
      [
        `array_${mode}`,
        ([list, index]: readonly string[]) => `${list}[${mode.toUpperCase()}(${index})]`,
      ] as const,
  ),
]);

function writeScalar(name: string, inputs: readonly string[]): string {
  const [left, right] = inputs;
  if (INFIX.has(name)) return `(${left} ${name.toUpperCase()} ${right})`;
  return SPELLINGS.get(name)?.(inputs) ?? `${name.toUpperCase()}(${inputs.join(', ')})`;
}

/** The forms of a call that bind. */
function formsOf(call: Call): readonly { readonly place: string; readonly form: FieldForm }[] {
  const { name, parameters, part } = call;
  const isWritten = parameters.every((each) => typeof each !== 'object' || isNamed(each));
  if (!isWritten) return [];
  const samples = parameters.map((each, position) => sampleOf(each, part, `${name}.${position}`));
  return parameters.flatMap((parameter, position) => {
    if (parameter === 'part') return [];
    const write = (field: string) => call.write(joinAmount(samples.with(position, field), call));
    const reading = readingIn(write('m.x'));
    if (reading === undefined) return [];
    const types = parameters.map((each) => typeText(each, part)).with(position, '·');
    const text = call.write(joinAmount(types, call));
    return [{ place: `${name} ${position}`, form: { text, write, reading } }];
  });
}

/** `INTERVAL amount part` where a function takes these two. */
function joinAmount(inputs: readonly string[], { name, parameters }: Call): readonly string[] {
  const at = parameters.indexOf('part');
  const isAmount = at > 0 && parameters[at - 1] === parameters.find(isInteger);
  if (name === 'interval' || !isAmount) return inputs;
  return [
    ...inputs.slice(0, at - 1),
    `INTERVAL ${inputs[at - 1]} ${inputs[at]}`,
    ...inputs.slice(at + 1),
  ];
}

function isInteger(parameter: ParameterType): boolean {
  return typeof parameter === 'object' && parameter.kind === 'INT64';
}

/** Whether a text can name the type, so that something else than a field can be of it. */
function isNamed(type: SqlType): boolean {
  if (type.kind === 'ARRAY') return isNamed(type.element);
  return type.kind !== 'NUMBER';
}

/** As what `m.x` is read in an expression; `undefined` when it cannot stand there. */
function readingIn(expression: string): string | undefined {
  try {
    const { plan } = bind(`SELECT ${expression} AS y FROM logs, UNNEST(metadata) AS m`);
    const text = planText(plan);
    const read = /read\(m#\d+\.x as ([A-Z0-9<>]+)\)/.exec(text)?.[1];
    if (read !== undefined) return read;
    return text.includes('cast(m#7.x as STRING)') ? 'CAST STRING' : 'DYNAMIC';
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}

/** Where not any value of the type will do. */
const SAMPLES: ReadonlyMap<string, string> = new Map([
  ...['json_value', 'json_query', 'json_extract', 'json_extract_scalar'].flatMap(json),
  ...['json_value_array', 'json_query_array', 'json_extract_array'].flatMap(json),
  ...json('json_extract_string_array'),
  ...['timestamp', 'datetime', 'date'].map((name) => [`${name}.0`, "'2026-01-15'"] as const),
  ...['timestamp', 'string', 'date', 'datetime', 'time'].map(zone(1)),
  ...['date_trunc', 'datetime_trunc', 'timestamp_trunc', 'extract'].map(zone(2)),
  ...['format_timestamp', 'format_datetime', 'format_date', 'parse_timestamp'].map(zone(2)),
  ...['parse_timestamp', 'parse_datetime', 'parse_date'].map(
    (name) => [`${name}.0`, "'%Y'"] as const,
  ),
  ...['parse_timestamp', 'parse_datetime', 'parse_date'].map(
    (name) => [`${name}.1`, "'2026'"] as const,
  ),
  ['parse_time.0', "'%H'"],
  ['parse_time.1', "'12'"],
  ['generate_timestamp_trunc_array.1', "'minute_step'"],
  ['format.0', "'%t'"],
  ['parse_json.0', "'1'"],
  ['asin.0', '0.5'],
  ['net.ip_from_string.0', "'::1'"],
  ['from_hex.0', "'00'"],
  ['from_base64.0', "'YQ=='"],
  ['from_base32.0', "'ME======'"],
  ['generate_array.2', '1'],
]);

function json(name: string): readonly (readonly [string, string])[] {
  return [
    [`${name}.0`, `'{"a":[1]}'`],
    [`${name}.1`, "'$.a'"],
  ];
}

function zone(position: number): (name: string) => readonly [string, string] {
  return (name) => [`${name}.${position}`, "'UTC'"];
}

const LITERALS: Readonly<Record<string, string>> = {
  BOOL: 'TRUE',
  INT64: '2',
  FLOAT64: '0.5',
  STRING: "'ann'",
  BYTES: "b'ann'",
  TIMESTAMP: "TIMESTAMP '2026-01-15'",
  DATETIME: "DATETIME '2026-01-15'",
  DATE: "DATE '2026-01-15'",
  TIME: "TIME '12:00:00'",
  INTERVAL: 'INTERVAL 1 DAY',
  DYNAMIC: 'm.y',
  number: '2',
  list: "['ann']",
  array: "['ann']",
};

function sampleOf(parameter: ParameterType, part: string, place: string): string {
  if (parameter === 'part') return part;
  if (typeof parameter !== 'object') return LITERALS[parameter] ?? "'ann'";
  if (parameter.kind === 'ARRAY') return `[${sampleOf(parameter.element, part, '')}]`;
  const given = parameter.kind === 'STRING' ? SAMPLES.get(place) : undefined;
  return given ?? LITERALS[parameter.kind]!;
}

function typeText(parameter: ParameterType, part: string): string {
  if (parameter === 'part') return part;
  if (typeof parameter === 'object') return typeName(parameter);
  if (parameter === 'number') return 'INT64';
  return parameter === 'list' || parameter === 'array' ? 'ARRAY' : 'STRING';
}
