import type { Operation } from './operation.ts';
import { strict } from './operation-maker.ts';
import type { Type } from './query.ts';

/** Patterns that mean the same to RE2 and to JavaScript. */
const EXPRESSIONS: readonly (readonly [sql: string, expression: RegExp])[] = [
  ["'x'", /x/u],
  ["'^y?$'", /^y?$/u],
  ["'(?i)Z'", /z/iu],
  ["'^[^x]'", /^[^x]/u],
  ["'x|é'", /x|é/u],
  ["''", /(?:)/u],
];

const PATTERNS: readonly (readonly [sql: string, expression: RegExp])[] = [
  ["'x%'", /^x/su],
  ["'%y'", /y$/su],
  ["'_'", /^.$/su],
  ["'%'", /^/su],
  ["'x'", /^x$/su],
  ["'%x_%'", /x./su],
];

export function texts(): readonly Operation[] {
  const two: readonly Type[] = ['STRING', 'STRING'];
  return [
    ...['CONCAT(?, ?)', '(? || ?)'].map((text) =>
      strict(text, two, 'STRING', (left: string, right: string) => left + right),
    ),
    strict('UPPER(?)', ['STRING'], 'STRING', (text: string) => text.toUpperCase()),
    strict('LOWER(?)', ['STRING'], 'STRING', (text: string) => text.toLowerCase()),
    strict('TRIM(?)', ['STRING'], 'STRING', (text: string) => text.trim()),
    strict("REPLACE(?, 'x', ?)", two, 'STRING', (text: string, to: string) =>
      text.split('x').join(to),
    ),
    strict('SUBSTR(?, ?)', ['STRING', 'INT64'], 'STRING', substring),
    strict('SUBSTR(?, 1, 1)', ['STRING'], 'STRING', (text: string) => [...text][0] ?? ''),
    strict('CAST(? AS STRING)', ['INT64'], 'STRING', (value: bigint) => String(value)),
    strict('CAST(? AS STRING)', ['BOOL'], 'STRING', (value: boolean) => String(value)),
    strict('LENGTH(?)', ['STRING'], 'INT64', (text: string) => BigInt([...text].length)),
    strict('BYTE_LENGTH(?)', ['STRING'], 'INT64', (text: string) =>
      BigInt(new TextEncoder().encode(text).length),
    ),
    strict('STRPOS(?, ?)', two, 'INT64', (text: string, part: string) => {
      const index = text.indexOf(part);
      return BigInt(index < 0 ? 0 : [...text.slice(0, index)].length + 1);
    }),
    strict('STARTS_WITH(?, ?)', two, 'BOOL', (text: string, start: string) =>
      text.startsWith(start),
    ),
    strict('ENDS_WITH(?, ?)', two, 'BOOL', (text: string, end: string) => text.endsWith(end)),
    ...EXPRESSIONS.map(([sql, expression]) =>
      strict(`REGEXP_CONTAINS(?, ${sql})`, ['STRING'], 'BOOL', (text: string) =>
        expression.test(text),
      ),
    ),
    ...PATTERNS.flatMap(([sql, expression]) => [
      strict(`(? LIKE ${sql})`, ['STRING'], 'BOOL', (text: string) => expression.test(text)),
      strict(`(? NOT LIKE ${sql})`, ['STRING'], 'BOOL', (text: string) => !expression.test(text)),
    ]),
  ];
}

/** From a position counted from 1; a negative one counts from the end, and stops at the start. */
function substring(text: string, position: bigint): string {
  const characters = [...text];
  const at = Number(position);
  const start = at > 0 ? at - 1 : at === 0 ? 0 : Math.max(0, characters.length + at);
  return characters.slice(start).join('');
}
