import type {
  AggregateFunction,
  AggregateModifier,
} from '../../engine/aggregate/aggregate-function.ts';
import { aggregateFunctionNames, findAggregateFunction } from '../../engine/aggregate/registry.ts';
import { type SqlType, typeName } from '../../engine/column/type.ts';
import { arrayFunctions } from '../../engine/function/array-functions.ts';
import { comparisonFunctions } from '../../engine/function/comparison-functions.ts';
import { jsonFunctions } from '../../engine/function/json/json-functions.ts';
import { arithmeticFunctions } from '../../engine/function/number/arithmetic-functions.ts';
import { bitFunctions } from '../../engine/function/number/bit-functions.ts';
import { mathFunctions } from '../../engine/function/number/math-functions.ts';
import { findScalarFunction, isOperator } from '../../engine/function/registry.ts';
import type {
  FunctionDoc,
  ParameterType,
  ScalarFunction,
} from '../../engine/function/scalar-function.ts';
import { byteFunctions, codePointFunctions } from '../../engine/function/text/byte-functions.ts';
import { formatFunctions } from '../../engine/function/text/format-functions.ts';
import { hashFunctions } from '../../engine/function/text/hash-functions.ts';
import { letterFunctions } from '../../engine/function/text/letter-functions.ts';
import { netFunctions } from '../../engine/function/text/net-functions.ts';
import { regexFunctions } from '../../engine/function/text/regex-functions.ts';
import { searchFunctions } from '../../engine/function/text/search-functions.ts';
import { textFunctions } from '../../engine/function/text/text-functions.ts';
import { intervalFunctions } from '../../engine/function/time/interval-functions.ts';
import { timeArrayFunctions } from '../../engine/function/time/time-array-functions.ts';
import {
  EXTRACT,
  timeConversionFunctions,
  timeTextFunctions,
} from '../../engine/function/time/time-conversion-functions.ts';
import { timeShiftFunctions } from '../../engine/function/time/time-shift-functions.ts';
import { errorFunctions, truthFunctions } from '../../engine/function/truth-functions.ts';
import type { WindowFunction } from '../../engine/operator/window-frame.ts';
import { findWindowFunction, windowFunctionNames } from '../../engine/operator/window-functions.ts';
import {
  SPECIAL_CALLS,
  type SpecialForm,
  SYNTAX_FORMS,
} from '../../engine/plan/binder/special-forms.ts';

/** One row of the page. */
export type FunctionEntry = {
  readonly name: string;
  readonly kind: 'scalar' | 'aggregate' | 'window';
  readonly signatures: readonly string[];
  readonly doc: FunctionDoc;
};

export type FunctionFamily = { readonly title: string; readonly entries: readonly FunctionEntry[] };

/** Those of the comparisons that choose a value. */
const CHOOSING: readonly string[] = ['nullif', 'greatest', 'least'];

/** All functions and operators, as the page groups them. */
export function functionFamilies(): readonly FunctionFamily[] {
  const isChoosing = ({ name }: ScalarFunction) => CHOOSING.includes(name);
  const isClock = ({ name }: SpecialForm) => name.startsWith('current_');
  const aggregates = aggregateFunctionNames().map((name) => findAggregateFunction(name)!);
  const isApproximate = ({ name }: AggregateFunction) => name.startsWith('approx_');
  return [
    family(
      'Conditions',
      [...truthFunctions, ...comparisonFunctions.filter((each) => !isChoosing(each))].map(scalar),
    ),
    family('Choosing and converting values', [
      ...[...SPECIAL_CALLS.filter((each) => !isClock(each)), ...SYNTAX_FORMS].map(special),
      ...[...comparisonFunctions.filter(isChoosing), ...errorFunctions].map(scalar),
    ]),
    family('Arithmetic', arithmeticFunctions.map(scalar)),
    family('Mathematics', mathFunctions.map(scalar)),
    family('Bits', bitFunctions.map(scalar)),
    family(
      'Text',
      [
        ...[...textFunctions, ...searchFunctions, ...letterFunctions, ...codePointFunctions],
        ...formatFunctions,
      ].map(scalar),
    ),
    family('Regular expressions', regexFunctions.map(scalar)),
    family(
      'Bytes, hashes and addresses',
      [...byteFunctions, ...hashFunctions, ...netFunctions].map(scalar),
    ),
    family('Times', [
      ...SPECIAL_CALLS.filter(isClock).map(special),
      ...timeConversionFunctions.map(scalar),
    ]),
    family('Parts and steps of time', [EXTRACT, ...timeShiftFunctions].map(scalar)),
    family('Texts of times', timeTextFunctions.map(scalar)),
    family('Intervals', intervalFunctions.map(scalar)),
    family('Arrays', [...arrayFunctions, ...timeArrayFunctions].map(scalar)),
    family('JSON', jsonFunctions.map(scalar)),
    family('Aggregates', aggregates.filter((each) => !isApproximate(each)).map(aggregate)),
    family('Approximate aggregates', aggregates.filter(isApproximate).map(aggregate)),
    family(
      'Window functions',
      windowFunctionNames().map((name) => window(findWindowFunction(name)!)),
    ),
  ];
}

function family(title: string, entries: readonly FunctionEntry[]): FunctionFamily {
  return { title, entries };
}

/** What the registry names otherwise than a text does; other operators stand between their operands. */
const OPERATORS: ReadonlyMap<string, string> = new Map([
  ['not', 'NOT a'],
  ['neg', '-a'],
  ['~', '~a'],
  ['is_null', 'a IS [NOT] NULL'],
  ['is_true', 'a IS [NOT] TRUE'],
  ['is_false', 'a IS [NOT] FALSE'],
  ['is_distinct', 'a IS [NOT] DISTINCT FROM b'],
  ['in', 'a [NOT] IN (b, …)'],
  ['in_array', 'a [NOT] IN UNNEST(array)'],
  ['like', 'a [NOT] LIKE b'],
  ['extract', 'EXTRACT(part FROM a [AT TIME ZONE STRING])'],
  ['interval', 'INTERVAL INT64 part'],
  ['array_offset', 'array[OFFSET(INT64)]'],
  ['array_safe_offset', 'array[SAFE_OFFSET(INT64)]'],
  ['array_ordinal', 'array[ORDINAL(INT64)]'],
  ['array_safe_ordinal', 'array[SAFE_ORDINAL(INT64)]'],
  ['json_of', 'a field beside JSON'],
]);

function scalar({ name, doc, overloads }: ScalarFunction): FunctionEntry {
  return { name, kind: 'scalar', signatures: scalarSignatures(name, overloads), doc };
}

function scalarSignatures(name: string, overloads: ScalarFunction['overloads']): readonly string[] {
  if (name === 'json_field') return ['json.name', "json['name']", 'json[INT64]'];
  const operator = OPERATORS.get(name);
  if (operator !== undefined) return [operator];
  if (isOperator(name)) return [`a ${name.toUpperCase()} b`];
  // The run's clock is written by nobody.
  const isClocked = findScalarFunction(name)?.readsClock === true;
  return signaturesOf(
    overloads.map((each) =>
      isClocked ? { ...each, parameters: each.parameters.slice(0, -1) } : each,
    ),
    (items, result) => `${name.toUpperCase()}(${items})${result}`,
  );
}

function special({ name, signature, doc }: SpecialForm): FunctionEntry {
  return { name, kind: 'scalar', signatures: [signature], doc };
}

const NULLS = ' [IGNORE/RESPECT NULLS]';

function aggregate({ name, doc, overloads, modifiers }: AggregateFunction): FunctionEntry {
  const taken = modifiers ?? ['distinct'];
  const written = (modifier: AggregateModifier, text: string) =>
    taken.includes(modifier) ? text : '';
  const inside =
    written('nulls', NULLS) + written('order', ' [ORDER BY …]') + written('limit', ' [LIMIT …]');
  const signatures = signaturesOf(
    overloads.map(({ parameters, constants = [], result }) => ({
      parameters: [...parameters, ...constants],
      result,
    })),
    (items, result) =>
      items === ''
        ? `${name.toUpperCase()}(*)${result}`
        : `${name.toUpperCase()}(${written('distinct', '[DISTINCT] ')}${items}${inside})${result}`,
  );
  return { name, kind: 'aggregate', signatures, doc };
}

const WINDOWS: Readonly<Record<WindowFunction['order'], string>> = {
  required: 'OVER (ORDER BY …)',
  optional: 'OVER (…)',
  forbidden: 'OVER ([PARTITION BY …])',
};

function window({ name, doc, overloads, order, ignoresNulls }: WindowFunction): FunctionEntry {
  const nulls = ignoresNulls === undefined ? '' : NULLS;
  const signatures = signaturesOf(
    overloads,
    (items, result) => `${name.toUpperCase()}(${items}${nulls}) ${WINDOWS[order]}${result}`,
  );
  return { name, kind: 'window', signatures, doc };
}

type Overload = {
  readonly parameters: readonly ParameterType[];
  readonly variadic?: ParameterType | undefined;
  readonly optionalCount?: number;
  readonly result: SqlType | ((types: readonly SqlType[]) => SqlType);
};

/** An overload, or several that differ in one parameter: the types of each, and of the result. */
type Signature = {
  readonly parameters: readonly string[];
  readonly requiredCount: number;
  /** What stands behind the parameters if there may be more. */
  readonly more: string;
  readonly result: string;
};

function signaturesOf(
  overloads: readonly Overload[],
  write: (items: string, result: string) => string,
): readonly string[] {
  const named = overloads.filter(({ parameters }) => parameters.every(isNamed));
  const signatures = joined((named.length > 0 ? named : overloads).map(signatureOf));
  return signatures.map(({ parameters, requiredCount, more, result }) => {
    const required = parameters.slice(0, requiredCount).join(', ');
    const optional = parameters.slice(requiredCount).join(', ');
    const bracketed = optional === '' ? '' : `[${required === '' ? '' : ', '}${optional}]`;
    return write(`${required}${bracketed}${more}`, result === '' ? '' : ` → ${result}`);
  });
}

/** Whether a text can name the type. */
function isNamed(parameter: ParameterType): boolean {
  if (typeof parameter === 'string') return true;
  if (parameter.kind === 'ARRAY') return isNamed(parameter.element);
  return parameter.kind !== 'DYNAMIC' && parameter.kind !== 'NUMBER';
}

function signatureOf({ parameters, variadic, optionalCount = 0, result }: Overload): Signature {
  const more = variadic === undefined ? '' : typeText(variadic);
  const last = parameters.at(-1);
  return {
    parameters: withIntervals(parameters.map(typeText)),
    requiredCount: parameters.length - optionalCount,
    more: variadic === undefined ? '' : variadic === last ? ', …' : `, ${more}…`,
    result: typeof result === 'function' || result.kind === 'NULL' ? '' : typeName(result),
  };
}

/** An amount and its part are written as an INTERVAL. */
function withIntervals(types: readonly string[]): readonly string[] {
  const part = types.indexOf('part');
  if (types[part - 1] !== 'INT64') return types;
  return [...types.slice(0, part - 1), 'INTERVAL INT64 part', ...types.slice(part + 1)];
}

const WORDS: Readonly<Record<Exclude<ParameterType, SqlType>, string>> = {
  any: 'any',
  element: 'any',
  same: 'T',
  groupable: 'T',
  orderable: 'T',
  number: 'number',
  list: 'ARRAY',
  array: 'ARRAY',
  part: 'part',
};

function typeText(parameter: ParameterType): string {
  return typeof parameter === 'string' ? WORDS[parameter] : typeName(parameter);
}

/** As few signatures as can be, those that differ in one parameter being one. */
function joined(signatures: readonly Signature[]): readonly Signature[] {
  for (const [index, left] of signatures.entries()) {
    for (const [offset, right] of signatures.slice(index + 1).entries()) {
      const both = joinedPair(left, right);
      if (both === undefined) continue;
      const others = signatures.toSpliced(index + 1 + offset, 1);
      return joined(others.with(index, both));
    }
  }
  return signatures;
}

function joinedPair(left: Signature, right: Signature): Signature | undefined {
  const isAlike =
    left.parameters.length === right.parameters.length &&
    left.requiredCount === right.requiredCount &&
    left.more === right.more;
  if (!isAlike) return undefined;
  const differing = left.parameters.filter((each, index) => each !== right.parameters[index]);
  if (differing.length > 1) return undefined;
  return {
    ...left,
    parameters: left.parameters.map((each, index) => either(each, right.parameters[index]!)),
    result: either(left.result, right.result),
  };
}

/** `A/B`, each type once. */
function either(left: string, right: string): string {
  return [...new Set([...left.split('/'), ...right.split('/')])].join('/');
}

const BEGIN = '<!-- Tables of functions, written from their entries in the engine. -->\n';
const END = '<!-- End of the tables. -->\n';

/** A page with its tables of functions written anew. What stands around them stays. */
export function withFunctions(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const [, after] = rest?.split(END) ?? [];
  if (before === undefined || after === undefined) {
    throw new Error('the page must have the two comments between which its tables stand');
  }
  const families = functionFamilies();
  const links = families.map(({ title }) => `[${title}](#${anchorOf(title)})`);
  const sections = families.map(
    ({ title, entries }) => `## ${title}\n\n${tableOf(entries).join('\n')}\n`,
  );
  return `${before}${BEGIN}\n${links.join(' ·\n')}\n\n${sections.join('\n')}\n${END}${after}`;
}

function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9 ]/g, '')
    .replaceAll(' ', '-');
}

function tableOf(entries: readonly FunctionEntry[]): readonly string[] {
  const rows = entries.map(({ signatures, doc: [sentence, expression, value] }) => [
    signatures.map(code).join('<br>'),
    sentence,
    `${code(expression)} → ${code(value)}`,
  ]);
  return [['function', 'value', 'example'], ['---', '---', '---'], ...rows].map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  );
}

function code(text: string): string {
  return `\`${text}\``;
}
