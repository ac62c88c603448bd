import { createHash } from 'node:crypto';
import type { Operation } from './operation.ts';
import { lazy, strict } from './operation-maker.ts';

/** Texts made of texts and other values. */
export function madeTexts(): readonly Operation[] {
  return [...partsOfTexts(), ...patterns(), ...formats()];
}

function ofText(text: string, make: (characters: readonly string[]) => string): Operation {
  return strict(text, ['STRING'], 'STRING', (value: string) => make([...value]));
}

function partsOfTexts(): readonly Operation[] {
  return [
    strict('SUBSTR(?, ?, 2)', ['STRING', 'INT64'], 'STRING', (text: string, position: bigint) => {
      const characters = [...text];
      const at = Number(position);
      const start = at > 0 ? at - 1 : at === 0 ? 0 : Math.max(0, characters.length + at);
      return characters.slice(start, start + 2).join('');
    }),
    ofText('LEFT(?, 2)', (characters) => characters.slice(0, 2).join('')),
    ofText('RIGHT(?, 1)', (characters) => characters.slice(-1).join('')),
    ofText('REVERSE(?)', (characters) => characters.toReversed().join('')),
    ofText('REPEAT(?, 2)', (characters) => [...characters, ...characters].join('')),
    ofText("LPAD(?, 3, 'ab')", (characters) => {
      const padding = [...'abababa'].slice(0, Math.max(0, 3 - characters.length));
      return [...padding, ...characters].slice(0, 3).join('');
    }),
    ofText('RPAD(?, 2)', (characters) => [...characters, ' ', ' '].slice(0, 2).join('')),
    ofText("TRIM(?, 'x')", (characters) => characters.join('').replace(/^x+|x+$/g, '')),
    ofText('LTRIM(?)', (characters) => characters.join('').trimStart()),
    ofText("RTRIM(?, 'xy')", (characters) => characters.join('').replace(/[xy]+$/, '')),
    ofText("TRANSLATE(?, 'xyZ', 'ab')", (characters) =>
      characters
        .map((each) => (each === 'x' ? 'a' : each === 'y' ? 'b' : each === 'Z' ? '' : each))
        .join(''),
    ),
    ofText('TO_HEX(MD5(?))', (characters) =>
      createHash('md5').update(characters.join('')).digest('hex'),
    ),
    ofText('TO_BASE64(CAST(? AS BYTES))', (characters) =>
      Buffer.from(characters.join('')).toString('base64'),
    ),
    strict("INSTR(?, 'x', -1)", ['STRING'], 'INT64', (text: string) =>
      BigInt([...text].lastIndexOf('x') + 1),
    ),
    strict('UNICODE(?)', ['STRING'], 'INT64', (text: string) => BigInt(text.codePointAt(0) ?? 0)),
  ];
}

function patterns(): readonly Operation[] {
  const extracted = (sql: string, expression: RegExp) =>
    strict(`REGEXP_EXTRACT(?, ${sql})`, ['STRING'], 'STRING', (text: string) => {
      const match = expression.exec(text);
      return match === null ? null : (match[1] ?? match[0]);
    });
  return [
    extracted("'.x'", /.x/u),
    extracted("'x(.)'", /x(.)/u),
    extracted("'^.*$'", /^.*$/u),
    ofText("REGEXP_REPLACE(?, 'x', 'é')", (characters) => characters.join('').replace(/x/g, 'é')),
    ofText("REGEXP_REPLACE(?, '(x)(y)', '\\\\2-\\\\1')", (characters) =>
      characters.join('').replace(/(x)(y)/g, '$2-$1'),
    ),
    ofText("REGEXP_REPLACE(?, '[^x]', '')", (characters) =>
      characters.filter((each) => each === 'x').join(''),
    ),
  ];
}

function formats(): readonly Operation[] {
  const ofInteger = (format: string, write: (value: bigint) => string) =>
    strict(`FORMAT('${format}', ?)`, ['INT64'], 'STRING', write);
  return [
    ofInteger('%d', String),
    ofInteger('<%5d>', (value) => `<${String(value).padStart(5)}>`),
    ofInteger('%-4d|', (value) => `${String(value).padEnd(4)}|`),
    ofInteger('%05d', (value) => {
      const digits = String(value < 0n ? -value : value);
      return value < 0n ? `-${digits.padStart(4, '0')}` : digits.padStart(5, '0');
    }),
    ofInteger('%+d', (value) => (value < 0n ? String(value) : `+${value}`)),
    strict(
      "FORMAT('%s=%s', ?, ?)",
      ['STRING', 'STRING'],
      'STRING',
      (one: string, other: string) => `${one}=${other}`,
    ),
    lazy("FORMAT('%t', ?)", ['BOOL'], 'STRING', (value) => String(value() ?? 'NULL')),
    strict("FORMAT_TIMESTAMP('%F %T', ?)", ['TIMESTAMP'], 'STRING', (time: bigint) =>
      new Date(Number(floorToMs(time))).toISOString().slice(0, 19).replace('T', ' '),
    ),
  ];
}

function floorToMs(us: bigint): bigint {
  return (us - (((us % 1000n) + 1000n) % 1000n)) / 1000n;
}
