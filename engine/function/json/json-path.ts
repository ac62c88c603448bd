import { QueryError } from '../../query-error.ts';

/** A step into a JSON value: a member's name or an element's index. */
export type JsonStep = string | number;

const STEP = /\.([^.[\]"\s]+)|\."((?:[^"\\]|\\.)*)"|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]/y;

let latest: { readonly path: string; readonly steps: readonly JsonStep[] } | undefined;

/** The steps of a path such as `$.request.headers[0]."x-real-ip"`; throws for any other text. */
export function parseJsonPath(path: string): readonly JsonStep[] {
  // Row after row asks for the same path.
  if (latest?.path === path) return latest.steps;
  const steps: JsonStep[] = [];
  let at = 1;
  while (at < path.length) {
    STEP.lastIndex = at;
    const match = STEP.exec(path);
    if (match === null) break;
    const quoted = match[2] ?? match[4];
    if (match[3] !== undefined) steps.push(Number(match[3]));
    else steps.push(match[1] ?? (quoted as string).replace(/\\(.)/g, '$1'));
    at = STEP.lastIndex;
  }
  if (!path.startsWith('$') || at !== path.length) {
    throw new QueryError(
      'query_failed',
      `JSON path must be written like $.name[0]."other name"; got ${JSON.stringify(path.slice(0, 256))}`,
    );
  }
  latest = { path, steps };
  return steps;
}

/**
 * The text of the value that the steps lead to, as it stands in `json`; `undefined` when there is
 * none or `json` is no JSON. Of members of one name the first counts. The text is kept, not the
 * parsed value, for its integers may be beyond doubles.
 */
export function findJson(json: string, steps: readonly JsonStep[]): string | undefined {
  return isJson(json) ? findInJson(json, steps) : undefined;
}

/** The same of a text that is JSON, as each value of type JSON is. */
export function findInJson(json: string, steps: readonly JsonStep[]): string | undefined {
  let at = skipSpace(json, 0);
  for (const step of steps) {
    const next =
      typeof step === 'string' ? findMember(json, at, step) : findElement(json, at, step);
    if (next === undefined) return undefined;
    at = next;
  }
  return json.slice(at, skipValue(json, at));
}

/** The texts of the elements of a valid JSON list; `undefined` for another value. */
export function jsonElements(json: string): string[] | undefined {
  const start = skipSpace(json, 0);
  if (json[start] !== '[') return undefined;
  const elements: string[] = [];
  let next = skipSpace(json, start + 1);
  while (next < json.length && json[next] !== ']') {
    const end = skipValue(json, next);
    elements.push(json.slice(next, end));
    next = skipComma(json, end);
  }
  return elements;
}

/** The names of the members of a valid JSON map, and their values' texts; `undefined` for another value. */
export function jsonMembers(json: string): [name: string, value: string][] | undefined {
  const start = skipSpace(json, 0);
  if (json[start] !== '{') return undefined;
  const members: [string, string][] = [];
  let next = skipSpace(json, start + 1);
  while (json[next] === '"') {
    const end = skipString(json, next);
    const valueAt = skipSpace(json, skipSpace(json, end) + 1);
    const valueEnd = skipValue(json, valueAt);
    members.push([JSON.parse(json.slice(next, end)) as string, json.slice(valueAt, valueEnd)]);
    next = skipComma(json, valueEnd);
  }
  return members;
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Below, `json` is valid from `at` on, so what is not one thing is the other. */
function findMember(json: string, at: number, name: string): number | undefined {
  if (json[at] !== '{') return undefined;
  let next = skipSpace(json, at + 1);
  while (json[next] === '"') {
    const end = skipString(json, next);
    const valueAt = skipSpace(json, skipSpace(json, end) + 1);
    if (JSON.parse(json.slice(next, end)) === name) return valueAt;
    next = skipComma(json, skipValue(json, valueAt));
  }
  return undefined;
}

function findElement(json: string, at: number, index: number): number | undefined {
  if (json[at] !== '[') return undefined;
  let next = skipSpace(json, at + 1);
  for (let skipped = 0; json[next] !== ']' && next < json.length; skipped++) {
    if (skipped === index) return next;
    next = skipComma(json, skipValue(json, next));
  }
  return undefined;
}

function skipComma(json: string, at: number): number {
  const next = skipSpace(json, at);
  return json[next] === ',' ? skipSpace(json, next + 1) : next;
}

export function skipSpace(json: string, at: number): number {
  let next = at;
  while (next < json.length && json.charCodeAt(next) <= 0x20) next++;
  return next;
}

/** After the closing quote. */
export function skipString(json: string, at: number): number {
  let next = at + 1;
  while (json[next] !== '"') next += json[next] === '\\' ? 2 : 1;
  return next + 1;
}

function skipValue(json: string, at: number): number {
  if (json[at] === '"') return skipString(json, at);
  let depth = 0;
  let next = at;
  while (next < json.length) {
    const character = json[next] as string;
    if (character === '"') {
      next = skipString(json, next);
      continue;
    }
    if (character === '{' || character === '[') depth++;
    if (character === '}' || character === ']') {
      if (depth === 0) return next;
      depth--;
      if (depth === 0) return next + 1;
    }
    if (depth === 0 && (character === ',' || character.charCodeAt(0) <= 0x20)) return next;
    next++;
  }
  return next;
}

/** Valid JSON without the white space between its tokens. */
export function compactJson(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (token) => (token.startsWith('"') ? token : ''));
}
