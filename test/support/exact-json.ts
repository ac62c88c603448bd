/**
 * JSON as its text says: all digits of integers, the order of keys, and keys such as `__proto__`.
 * An integer is a bigint, any other number a double; `1.0` counts as the integer.
 */
export type Exact =
  | null
  | boolean
  | string
  | bigint
  | number
  | readonly Exact[]
  | ReadonlyMap<string, Exact>;

const TOKEN = /\s*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|(-?\d+)(?![\d.eE])|([^\s,\]}]+))/y;

/** Reads JSON; of duplicate keys the last. Not for texts that are thousands of levels deep. */
export function parseExact(text: string): Exact {
  const tokens = tokensOf(text);
  const value = valueFrom(tokens, tokens.next().value!);
  if (tokens.next().done !== true) throw new Error('a JSON text is one value');
  return value;
}

/** Yields punctuation as text, and scalars as `{ scalar }`. */
function* tokensOf(text: string): Generator<string | { readonly scalar: Exact }, undefined> {
  TOKEN.lastIndex = 0;
  let at = 0;
  const end = text.trimEnd().length;
  while (at < end) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) throw new Error(`not JSON: ${text.slice(at, at + 40)}`);
    at = TOKEN.lastIndex;
    const [, mark, string, integer, word] = match;
    if (mark !== undefined) yield mark;
    else if (integer !== undefined) yield { scalar: BigInt(integer) };
    else yield { scalar: JSON.parse((string ?? word)!) as Exact };
  }
  return undefined;
}

type Tokens = ReturnType<typeof tokensOf>;
type Token = string | { readonly scalar: Exact };

function valueFrom(tokens: Tokens, token: Token): Exact {
  if (typeof token !== 'string') return token.scalar;
  if (token === '[') return listFrom(tokens);
  if (token === '{') return recordFrom(tokens);
  throw new Error(`a value cannot begin with ${token}`);
}

function listFrom(tokens: Tokens): Exact[] {
  const list: Exact[] = [];
  let token: Token = tokens.next().value!;
  while (token !== ']') {
    list.push(valueFrom(tokens, token));
    if (tokens.next().value === ']') break;
    token = tokens.next().value!;
  }
  return list;
}

function recordFrom(tokens: Tokens): Map<string, Exact> {
  const record = new Map<string, Exact>();
  let token: Token = tokens.next().value!;
  while (token !== '}') {
    const key = (token as { readonly scalar: string }).scalar;
    tokens.next();
    record.delete(key);
    record.set(key, valueFrom(tokens, tokens.next().value!));
    if (tokens.next().value === '}') break;
    token = tokens.next().value!;
  }
  return record;
}

/** The JSON of a value, keys in their order; parses back to an equal one. */
export function exactText(value: Exact): string {
  if (typeof value === 'bigint') return String(value);
  if (isList(value)) return `[${value.map(exactText).join(',')}]`;
  if (value instanceof Map) {
    const fields = [...value].map(([key, field]) => `${JSON.stringify(key)}:${exactText(field)}`);
    return `{${fields.join(',')}}`;
  }
  return JSON.stringify(value);
}

/**
 * The one text of all values that count as equal: integral doubles as integers, and keys that read
 * as array indexes first, in ascending order, since a JavaScript sender may put them there.
 */
export function canonicalText(value: Exact): string {
  if (typeof value === 'number') return String(value);
  if (isList(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (!(value instanceof Map)) return exactText(value);
  const keys = [...(value as ReadonlyMap<string, Exact>).keys()];
  const indexes = keys.filter(isIndex).sort((left, right) => Number(left) - Number(right));
  const fields = [...indexes, ...keys.filter((key) => !isIndex(key))].map(
    (key) => `${JSON.stringify(key)}:${canonicalText(value.get(key)!)}`,
  );
  return `{${fields.join(',')}}`;
}

/** The value as `metadata` gives it back: each map that is a field's value as a list of one. */
export function withListedMaps(value: Exact): Exact {
  if (isList(value)) return value.map(withListedMaps);
  if (!(value instanceof Map)) return value;
  const fields = [...(value as ReadonlyMap<string, Exact>)].map(([key, field]) => {
    const listed = withListedMaps(field);
    return [key, field instanceof Map ? [listed] : listed] as const;
  });
  return new Map(fields);
}

function isIndex(key: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(key);
}

function isList(value: Exact): value is readonly Exact[] {
  return Array.isArray(value);
}
