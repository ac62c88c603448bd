import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { STRING } from '../../engine/column/type.ts';
import { BOUND_NODES_WITHIN_MAX, SQL_TOKENS_WITHIN_MAX } from '../../engine/limits.ts';
import { planText } from '../../engine/plan/plan-text.ts';
import { prepareQuery } from '../../engine/plan/prepared-query.ts';
import { QueryError } from '../../engine/query-error.ts';

const ENVIRONMENT = {
  sources: [{ name: 'edge.logs', projectPath: ['project'] }],
  parameters: [{ name: 'project', type: STRING }],
};

/** Two tables over one source, of a text that selects neither of them whole. */
const OUTER = prepareQuery(
  `WITH
     own AS (SELECT * FROM \`edge.logs\` WHERE project = @project),
     named AS (SELECT id, event_message AS text FROM own)
   SELECT id FROM own LIMIT 5`,
  ENVIRONMENT,
);

function bind(sql: string) {
  return prepareQuery(sql, { ...ENVIRONMENT, within: [OUTER.commonTables] }).bound;
}

function refusal(sql: string): QueryError {
  try {
    bind(sql);
  } catch (error) {
    assert.ok(error instanceof QueryError, String(error));
    return error;
  }
  return assert.fail(`"${sql}" is not refused`);
}

function expectPlan(sql: string, ...lines: readonly string[]): void {
  const text = planText(bind(sql).plan).replaceAll(/scan `(.*)`: .*$/gm, 'scan $1');
  assert.deepEqual(text.split('\n'), lines);
}

test('a table of the other text is read with its own conditions, and without its last selection', () => {
  expectPlan(
    "SELECT text FROM named WHERE id = 'a'",
    'project text#3 := event_message#3',
    "  filter (id#1 = 'a')",
    '    project id#1, text#3 := event_message#3',
    '      project id#1, timestamp#2, event_message#3, project#4, metadata#7 := root#5.metadata',
    '        filter (project#4 = @project)',
    '          scan edge.logs',
  );
});

test('a top-level key that a star leaves out is refused with what to write', () => {
  const wanted =
    '; * has the columns of a source, without top-level keys of events: instead of it, write *, level';
  for (const sql of [
    'SELECT level FROM own',
    'SELECT level FROM (SELECT o.* FROM own AS o)',
    'WITH mine AS (SELECT * EXCEPT (id) FROM own) SELECT level FROM mine',
  ]) {
    assert.equal(refusal(sql).message, `there is no column level here${wanted}`);
  }
  assert.equal(refusal('SELECT own.level FROM own').message, `own has no column level${wanted}`);
  // What names its columns leaves out nothing that a star could give.
  assert.equal(refusal('SELECT level FROM named').message, 'there is no column level here');
  assert.match(refusal('SELECT event_mesage FROM own').message, /did you mean event_message\?$/);
});

test('what is not used of the other text is no part of the plan', () => {
  expectPlan('SELECT 1 AS one', 'project one#1 := 1', '  one-row');
});

test('a source cannot be named, however it is written', () => {
  const source = '`edge.logs`';
  for (const sql of [
    `SELECT id FROM ${source}`,
    'SELECT id FROM edge.logs',
    'SELECT id FROM `EDGE.LOGS`',
    'SELECT id FROM edge.`logs`',
    `SELECT own.id FROM own, ${source} AS other`,
    `SELECT own.id FROM own JOIN ${source} AS other ON own.id = other.id`,
    `SELECT id FROM (SELECT id FROM ${source})`,
    `WITH mine AS (SELECT id FROM ${source}) SELECT id FROM mine`,
    `WITH mine AS (SELECT id FROM ${source}) SELECT id FROM own`,
    `WITH own AS (SELECT id FROM ${source}) SELECT id FROM own`,
    `WITH a AS (WITH b AS (SELECT id FROM ${source}) SELECT id FROM b) SELECT id FROM a`,
    `/* own */ SELECT id FROM -- own\n ${source}`,
  ]) {
    assert.match(refusal(sql).message, /^there is no table edge\.logs here: there are /i, sql);
  }
});

test('an unknown table is answered with the names there are, and the nearest', () => {
  const error = refusal('SELECT id\nFROM owm');
  assert.equal(
    error.message,
    'there is no table owm here: there are own, named; did you mean own?',
  );
  assert.deepEqual([error.span?.line, error.span?.column], [2, 6]);
});

test('a name that only looks alike is another name', () => {
  // The first letter is Cyrillic.
  assert.match(refusal('SELECT id FROM `оwn`').message, /^there is no table оwn here/);
  assert.match(refusal('SELECT id FROM оwn').message, /^the character "о" has no meaning/);
});

test('a table of the text itself hides one of the other text, which goes on seeing its own', () => {
  expectPlan(
    "WITH own AS (SELECT 'x' AS id) SELECT named.id, own.id AS mine FROM own, named",
    'project id#2, mine#1 := id#1',
    '  cross join',
    "    project id#1 := 'x'",
    '      one-row',
    '    project id#2, text#4 := event_message#4',
    '      project id#2, timestamp#3, event_message#4, project#5, metadata#8 := root#6.metadata',
    '        filter (project#5 = @project)',
    '          scan edge.logs',
  );
});

test('a column that a table does not select cannot be read, though the event has it', () => {
  assert.equal(refusal('SELECT project FROM named').message, 'there is no column project here');
  assert.equal(
    refusal('SELECT n.txt FROM named AS n').message,
    'n has no column txt; did you mean text?',
  );
  assert.equal(refusal('SELECT root FROM named').message, 'there is no column root here');
  assert.equal(refusal('SELECT region FROM named').message, 'there is no column region here');
});

test('a field of an unnested element is open, as everywhere', () => {
  assert.doesNotThrow(() => bind('SELECT region FROM own, UNNEST(metadata) AS m'));
});

test('the wildcard is refused among the columns that leave, in each branch of a union', () => {
  for (const sql of [
    'SELECT ^* FROM own',
    'SELECT ^own.* FROM own',
    'SELECT id, ^o.* FROM own AS o',
    'SELECT ^* EXCEPT (text) FROM own',
    'SELECT AS STRUCT ^* FROM own',
    'SELECT ^* FROM (SELECT id FROM own)',
    'WITH mine AS (SELECT * FROM own) SELECT ^* FROM mine',
    '(SELECT ^* FROM own) LIMIT 1',
    'SELECT id FROM own UNION ALL SELECT ^* FROM (SELECT id FROM own)',
    'SELECT id FROM own UNION ALL ((SELECT ^* FROM own) EXCEPT DISTINCT SELECT id FROM own)',
  ]) {
    const error = refusal(sql.replace('^', ''));
    assert.match(error.message, /the wildcard \* here; name its columns/, sql);
    assert.equal(error.span?.start, sql.indexOf('^'), sql);
  }
});

test('the wildcard stands where the query alone sees what it selects', () => {
  for (const sql of [
    'SELECT COUNT(*) AS count FROM own',
    'SELECT id FROM (SELECT * FROM own)',
    'WITH mine AS (SELECT o.* FROM own AS o) SELECT id FROM mine',
    'WITH mine AS (SELECT * FROM own UNION ALL SELECT * FROM own) SELECT COUNT(id) AS n FROM mine',
    'SELECT id FROM own WHERE EXISTS(SELECT * FROM own AS o WHERE o.id = own.id)',
    'SELECT ARRAY(SELECT AS STRUCT * FROM UNNEST([1, 2]) AS n) AS list FROM own',
  ]) {
    assert.doesNotThrow(() => bind(sql), sql);
  }
  assert.equal(
    refusal('SELECT project FROM (SELECT * FROM named)').message,
    'there is no column project here',
  );
});

test('parameters are those of the other text', () => {
  assert.deepEqual(bind('SELECT @project AS project').parameters, ['project']);
  assert.match(refusal('SELECT @other AS x').message, /^there is no parameter @other/);
});

test('what is too much of a table of the other text is refused where the text names it', () => {
  const uses = Array.from({ length: 20 }, (_, index) => `own AS o${index}`);
  const tables = Array.from(
    { length: 60 },
    (_, index) => `t${index} AS (SELECT o0.id FROM ${uses.join(', ')})`,
  );
  const sql = `WITH ${tables.join(',\n')} SELECT id FROM t0`;
  const error = refusal(sql);
  assert.equal(error.code, 'query_limit');
  const word = sql.slice(error.span?.start, error.span?.end);
  assert.match(word, /^own AS o\d+$/, `${error.message} at ${word}`);
});

test('a text that is sent has a number of words and signs at most', () => {
  // SELECT, the list with its commas and brackets, and a name.
  const withTokens = (count: number) =>
    `SELECT ARRAY_LENGTH([${Array.from({ length: (count - 7) / 2 }, () => '1').join()}]) AS a`;
  const most = SQL_TOKENS_WITHIN_MAX - 1;
  bind(withTokens(most));
  const { code, message } = refusal(withTokens(most + 2));
  assert.equal(code, 'query_limit');
  assert.match(message, /more than 10000 words, numbers and symbols/);
});

test('a text that is sent may come to less than one that is saved', () => {
  const tables = (count: number) => Array.from({ length: count }, (_, index) => `own AS o${index}`);
  const united = (count: number) =>
    Array.from({ length: count }, () => `(SELECT o0.id FROM ${tables(20).join(', ')})`).join(
      ' UNION ALL ',
    );
  assert.doesNotThrow(() => bind(united(2)));
  assert.match(refusal(united(12)).message, new RegExp(`more than ${BOUND_NODES_WITHIN_MAX} expr`));
});

/** Names that mean a table of the other text, one of the text's own, a source, or nothing. */
const NAME = fc.constantFrom('own', 'named', 'mine', 'edge.logs', '`edge.logs`', 'OWN', 'nothing');

/** Queries of one column, nested, joined and united, over any of the names. */
const { query: QUERY } = fc.letrec<{ query: string; table: string }>((tie) => ({
  table: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    NAME,
    tie('query').map((query) => `(${query})`),
  ),
  query: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    NAME.map((name) => `SELECT id FROM ${name}`),
    tie('table').map((table) => `SELECT a.id FROM ${table} AS a WHERE a.id != 'x' OR TRUE`),
    fc
      .tuple(tie('table'), tie('table'))
      .map(([left, right]) => `SELECT a.id FROM ${left} AS a JOIN ${right} AS b ON a.id = b.id`),
    fc.tuple(tie('query'), tie('query')).map(([left, right]) => `(${left}) UNION ALL (${right})`),
    fc
      .tuple(fc.constantFrom('own', 'mine', 'named', '`edge.logs`'), tie('query'), tie('query'))
      .map(([name, table, query]) => `WITH ${name} AS (${table}) ${query}`),
  ),
}));

test('whatever a text is made of, each scan in its plan has the condition of the other text', () => {
  let boundCount = 0;
  fc.assert(
    fc.property(QUERY, (sql) => {
      let bound: ReturnType<typeof bind>;
      try {
        bound = bind(sql);
      } catch (error) {
        assert.ok(error instanceof QueryError, `${sql}: ${error}`);
        return;
      }
      boundCount += 1;
      const lines = planText(bound.plan).split('\n');
      for (const [index, line] of lines.entries()) {
        if (!line.trim().startsWith('scan ')) continue;
        assert.match(lines[index - 1]!, /^ *filter \(project#\d+ = @project\)$/, sql);
      }
    }),
    { numRuns: 2_000 },
  );
  assert.ok(boundCount > 100, `only ${boundCount} texts were bound`);
});
