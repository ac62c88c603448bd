import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DefinitionError } from '../../../src/definition/definition-error.ts';
import { parseDefinitionFile } from '../../../src/definition/definition-file.ts';
import { runsOf } from '../../support/budget.ts';

const ID = '-- id: 2034724D-89c8-43a9-aabc-52f7404f4bdd';
const NAME = '-- name: app.stats';

function parse(...lines: string[]) {
  return parseDefinitionFile('app.sql', [...lines, 'SELECT 1'].join('\n'));
}

/** The position of the error, its reason, and the line with the caret. */
function errorOf(...lines: string[]): { place: string; reason: string; caret: string } {
  try {
    parse(...lines);
  } catch (error) {
    assert(error instanceof DefinitionError);
    const { line, column } = error.position;
    const caret = error.message.split('\n').slice(1).join('\n');
    return { place: `${line}:${column}`, reason: error.reason, caret };
  }
  return assert.fail('the definition was taken');
}

test('a header with an id and a name suffices, and the rest has defaults', () => {
  const { definition, headerLineCount } = parse(ID, NAME);
  assert.equal(headerLineCount, 2);
  assert.deepEqual(definition, {
    id: '2034724d-89c8-43a9-aabc-52f7404f4bdd',
    name: 'app.stats',
    aliases: [],
    description: '',
    parameters: [],
    rowsMax: 1000,
    cacheS: undefined,
    warmS: undefined,
    isSandboxed: false,
    extended: undefined,
    version: 1,
    text: 'SELECT 1',
  });
});

test('without an id, the id depends on the name and on nothing else', () => {
  const { definition, hasId } = parse(NAME);
  assert.equal(hasId, false);
  assert.equal(definition.id, 'aa11fa97-0091-596c-b7e2-0c82c4c8a578');
  assert.equal(parse('-- max_rows: 7', NAME).definition.id, definition.id);
  assert.notEqual(parse('-- name: app.stat').definition.id, definition.id);
  assert.equal(parse(ID, NAME).hasId, true);
});

test('all problems of a header are found, in order', () => {
  const lines = [
    '-- nmae: app.stats',
    '-- id: 7',
    '-- max_rows: none',
    '-- param: a text',
    '-- param: b int64',
    '-- param: b string',
    '-- hello',
    '-- warm: 300s',
  ];
  assert.throws(
    () => parse(...lines),
    (error) => {
      assert(error instanceof DefinitionError);
      const found = [error, ...error.further];
      assert.deepEqual(
        found.map(({ position }) => position.line),
        [1, 2, 3, 4, 6, 7, 1],
      );
      assert.match(found.at(-1)!.reason, /the header must give a name; got none/);
      return true;
    },
  );
});

test('keys and parameters have the positions of their values, missing ones the file’s start', () => {
  const { getPosition: positionOf } = parse(ID, NAME, '-- param: id string', '--   param:  b bool');
  assert.deepEqual(positionOf('name'), { line: 2, column: 10 });
  assert.deepEqual(positionOf('id'), { line: 1, column: 8 });
  assert.deepEqual(positionOf('id', 'param'), { line: 3, column: 11 });
  assert.deepEqual(positionOf('b', 'param'), { line: 4, column: 14 });
  assert.deepEqual(positionOf('alias'), { line: 1, column: 1 });
});

test('every key is parsed in any order, with any spaces and with Windows line ends', () => {
  const { definition } = parse(
    '--warm:300s\r',
    `${ID}\r`,
    '--   name :  app.stats  \r',
    '-- description: What it does: "this" (and that)\r',
    '-- alias: other, one-more\r',
    '-- max_rows: 100000\r',
    '-- cache: 900s\r',
    '-- sandbox: disabled\r',
  );
  assert.equal(definition.description, 'What it does: "this" (and that)');
  assert.deepEqual(definition.aliases, ['other', 'one-more']);
  assert.deepEqual([definition.cacheS, definition.warmS, definition.rowsMax], [900, 300, 100_000]);
});

test('the header ends at the first line that is not a comment, and later comments belong to the statement', () => {
  const { definition, headerLineCount } = parse(ID, NAME, '', ' ', '-- about: the statement');
  assert.equal(headerLineCount, 4);
  assert.equal(definition.text, '-- about: the statement\nSELECT 1');
});

test('a parameter has a type and options in any order, with quotes for words with spaces', () => {
  const { definition } = parse(
    ID,
    NAME,
    '-- param: project string required from=ref,tenant',
    '-- param: mode string enum(fast, "very fast") default="very fast"',
    '-- param: since timestamp',
    '-- param: size int64 default=-5',
    '-- param: text string default=',
  );
  const rest = { required: false, default: undefined, values: undefined, from: [] };
  assert.deepEqual(definition.parameters, [
    { ...rest, name: 'project', type: 'string', required: true, from: ['ref', 'tenant'] },
    { ...rest, name: 'mode', type: 'string', values: ['fast', 'very fast'], default: 'very fast' },
    { ...rest, name: 'since', type: 'timestamp' },
    { ...rest, name: 'size', type: 'int64', default: '-5' },
    { ...rest, name: 'text', type: 'string', default: '' },
  ]);
});

test('an error has its file, line, column and a caret', () => {
  const text = [ID, '-- nmae: app.stats', 'SELECT 1'].join('\n');
  assert.throws(() => parseDefinitionFile('folder/app.sql', text), {
    message: [
      'folder/app.sql:2:4: a header key must be id, name, description, max_rows, cache, warm, sandbox, extends, alias, version or param; got "nmae"; did you mean name?',
      '-- nmae: app.stats',
      '   ^',
    ].join('\n'),
  });
});

for (const [title, lines, place, reason] of [
  ['a bad UUID', ['-- id: 2034724d', NAME], '1:8', /UUID of 36 characters; got "2034724d"/],
  ['no name', [ID], '1:1', /must give a name/],
  ['a key given twice', [ID, NAME, '-- name: b'], '3:4', /given twice; first in line 2/],
  ['a reserved name', [ID, '-- name: query'], '2:10', /part of the paths/],
  ['a name like a UUID', [ID, `-- name: ${ID.slice(7)}`], '2:10', /form of a UUID/],
  ['a name with a slash', [ID, '-- name: a/b'], '2:10', /words of letters/],
  ['a bad alias', [ID, NAME, '-- alias: good, b d'], '3:17', /alias must be words/],
  ['an alias that is the name', [ID, NAME, '-- alias: app.stats'], '3:11', /differ/],
  ['a line without a key', [ID, NAME, '-- hello there'], '3:1', /"-- key: value"/],
  ['no rows', [ID, NAME, '-- max_rows: 0'], '3:14', /1 to 100000; got 0/],
  ['too many rows', [ID, NAME, '-- max_rows: 100001'], '3:14', /100000/],
  ['a cache without a unit', [ID, NAME, '-- cache: 900'], '3:11', /disabled, or a number/],
  ['warm without cache', [ID, NAME, '-- warm: 300s'], '3:10', /needs a cache/],
  [
    'warm beyond cache',
    [ID, NAME, '-- cache: 9s', '-- warm: 10s'],
    '4:10',
    /longer than cache, 9s/,
  ],
  ['a sandbox of another word', [ID, NAME, '-- sandbox: on'], '3:13', /disabled or enabled/],
  ['a parameter without a type', [ID, NAME, '-- param: a'], '3:11', /a name and a type/],
  ['a parameter of no known type', [ID, NAME, '-- param: a text'], '3:13', /timestamp; got "text"/],
  [
    'a parameter with a bad name',
    [ID, NAME, '-- param: 1a string'],
    '3:11',
    /letters, digits and _/,
  ],
  ['an unknown option', [ID, NAME, '-- param: a string optional'], '3:20', /got "optional"/],
  ['an option given twice', [ID, NAME, '-- param: a string from=b from=c'], '3:27', /given twice/],
  [
    'required with default',
    [ID, NAME, '-- param: a string required default=x'],
    '3:37',
    /no default/,
  ],
  ['a default not of its type', [ID, NAME, '-- param: a int64 default=x'], '3:27', /must be int64/],
  [
    'a default outside the enum',
    [ID, NAME, '-- param: a string enum(b) default=c'],
    '3:36',
    /must be b/,
  ],
  ['an empty place in an enum', [ID, NAME, '-- param: a string enum(b,,c)'], '3:27', /empty item/],
  ['a value twice in an enum', [ID, NAME, '-- param: a string enum(b,b)'], '3:27', /twice/],
  ['an open quote', [ID, NAME, '-- param: a string default="x'], '3:28', /must be closed/],
  [
    'a fallback to itself',
    [ID, NAME, '-- param: a string from=a'],
    '3:25',
    /other parameter names/,
  ],
  ['a token for a parameter', [ID, NAME, '-- param: api_key string'], '3:11', /send their token/],
  [
    'a token for a fallback',
    [ID, NAME, '-- param: a string from=b,api_key'],
    '3:25',
    /send their token/,
  ],
  [
    'a parameter declared twice',
    [ID, NAME, '-- param: a string', '-- param: A int64'],
    '4:11',
    /declared twice/,
  ],
] as const) {
  test(`${title} is refused at its position`, () => {
    const error = errorOf(...lines);
    assert.match(error.reason, reason);
    assert.equal(error.place, place);
    const column = Number(place.split(':')[1]);
    assert.equal(error.caret.split('\n')[1], `${' '.repeat(column - 1)}^`);
  });
}

test('a file with a header only has no statement', () => {
  assert.throws(() => parseDefinitionFile('a.sql', `${ID}\n${NAME}`), /the end of the file/);
  assert.throws(
    () => parseDefinitionFile('a.sql', `${ID}\n${NAME}\n  \n`),
    /a statement must follow/,
  );
});

test('a profile’s line replaces the common one, in that profile only', () => {
  const lines = [
    ID,
    NAME,
    '-- alias[supabase]: app.old',
    '-- max_rows[supabase]: 5',
    '-- max_rows: 7',
    '-- param: project string required',
    '-- param: interval string',
    '-- param[supabase]: Project string default=default',
    '-- param[supabase]: extra bool',
  ];
  const text = [...lines, 'SELECT 1'].join('\n');
  const plain = parseDefinitionFile('app.sql', text).definition;
  assert.deepEqual([plain.rowsMax, plain.aliases], [7, []]);
  assert.deepEqual(
    plain.parameters.map(({ name, required }) => [name, required]),
    [
      ['project', true],
      ['interval', false],
    ],
  );
  const { definition, getPosition: positionOf } = parseDefinitionFile('app.sql', text, 'supabase');
  assert.deepEqual([definition.rowsMax, definition.aliases], [5, ['app.old']]);
  assert.deepEqual(
    definition.parameters.map(({ name, default: text }) => [name, text]),
    [
      ['Project', 'default'],
      ['interval', undefined],
      ['extra', undefined],
    ],
  );
  assert.deepEqual(positionOf('max_rows'), { line: 4, column: 24 });
  assert.deepEqual(positionOf('Project', 'param'), { line: 8, column: 21 });
});

test('an unknown profile, or a repeated line in one, is refused at its position', () => {
  const unknown = errorOf(ID, NAME, '-- cache[other]: 900s');
  assert.equal(unknown.place, '3:4');
  assert.match(unknown.reason, /profile of a key must be default or supabase; got "other"/);
  const text = [ID, NAME, '-- cache[supabase]: 9s', '-- cache[supabase]: 8s', 'SELECT 1'].join(
    '\n',
  );
  assert.throws(
    () => parseDefinitionFile('a.sql', text, 'supabase'),
    /given twice; first in line 3/,
  );
});

test('any text is parsed, or refused at a position inside it', () => {
  const word = fc.constantFrom(
    'param:',
    'a',
    'string',
    'enum(',
    ')',
    '"',
    '\\',
    ',',
    ' ',
    'default=',
    'from=',
    'id:',
    ID,
  );
  const line = fc.oneof(
    fc.array(word, { maxLength: 8 }).map((words) => `-- ${words.join('')}`),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 5 }), (lines) => {
      const text = [ID, NAME, ...lines].join('\n');
      try {
        parseDefinitionFile('a.sql', text);
      } catch (error) {
        assert(error instanceof DefinitionError, String(error));
        const shown = text.split('\n')[error.position.line - 1];
        assert(shown !== undefined && error.position.column <= shown.length + 1);
      }
    }),
    { seed: 7, numRuns: runsOf(2000) },
  );
});
