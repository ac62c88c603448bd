import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INT64, STRING } from '../../engine/column/type.ts';
import { VIEW_DEPTH_MAX } from '../../engine/plan/binder/binding.ts';
import type { ParameterDeclaration, View } from '../../engine/plan/logical-plan.ts';
import { planText } from '../../engine/plan/plan-text.ts';
import { type PreparedQuery, prepareQuery } from '../../engine/plan/prepared-query.ts';
import { QueryError } from '../../engine/query-error.ts';

const SOURCES = [{ name: 'edge.logs', projectPath: ['project'] }];
const PROJECT: ParameterDeclaration = { name: 'project', type: STRING };

type Texts = Readonly<Record<string, Omit<View, 'name'>>>;

function view(text: string, ...parameters: readonly ParameterDeclaration[]): Omit<View, 'name'> {
  return { text, parameters };
}

const OWN = view(
  'SELECT id, event_message AS text FROM `edge.logs` WHERE project = @project',
  PROJECT,
);

/** The text as one named `main`, among the views. */
function prepare(
  text: string,
  views: Texts,
  parameters: readonly ParameterDeclaration[] = [],
  within?: readonly PreparedQuery['commonTables'][],
): PreparedQuery {
  const find = (name: string): View | undefined => {
    const found = views[name];
    return found && { name, ...found };
  };
  const names = () => Object.keys(views);
  return prepareQuery(text, {
    ...{ sources: SOURCES, parameters, within },
    views: { name: 'main', find, names },
  });
}

function refusal(...call: Parameters<typeof prepare>): QueryError {
  try {
    prepare(...call);
  } catch (error) {
    assert.ok(error instanceof QueryError, String(error));
    return error;
  }
  return assert.fail('the text is not refused');
}

/** The plan of the bound text. */
function planOf(...call: Parameters<typeof prepare>): string {
  return planText(prepare(...call).bound.plan);
}

test('a view is what a subquery with its text would be, wherever a source may stand', () => {
  const inPlace = OWN.text;
  for (const [named, written] of [
    ['SELECT text FROM `app.own`', `SELECT text FROM (${inPlace})`],
    ['SELECT text FROM app.own AS o', `SELECT text FROM (${inPlace}) AS o`],
    [
      'WITH a AS (SELECT * FROM `app.own`) SELECT * FROM a',
      `WITH a AS (SELECT * FROM (${inPlace})) SELECT * FROM a`,
    ],
    [
      'SELECT l.id FROM `edge.logs` AS l JOIN app.own AS o ON l.id = o.id',
      `SELECT l.id FROM \`edge.logs\` AS l JOIN (${inPlace}) AS o ON l.id = o.id`,
    ],
    [
      'SELECT (SELECT COUNT(*) FROM app.own) AS n',
      `SELECT (SELECT COUNT(*) FROM (${inPlace})) AS n`,
    ],
  ] as const) {
    assert.equal(planOf(named, { 'app.own': OWN }), planOf(written, {}, [PROJECT]), named);
  }
});

test('its columns go by the whole of its name where it has no alias', () => {
  const { output } = prepare('SELECT `app.own`.text FROM `app.own`', { 'app.own': OWN }).bound;
  assert.deepEqual(
    output.map(({ name }) => name),
    ['text'],
  );
});

test('what the text itself selects from is told, each once, and parameters of all', () => {
  const views: Texts = {
    a: view('SELECT x FROM b WHERE x > @least', { name: 'least', type: INT64 }),
    b: view('SELECT 1 AS x FROM `edge.logs` WHERE project = @project', PROJECT),
    c: view('SELECT 2 AS x'),
  };
  const { bound } = prepare('SELECT a.x FROM a, c, a AS again', views);
  assert.deepEqual(bound.views, ['a', 'c']);
  assert.deepEqual(bound.parameters, ['project', 'least']);
});

test('a CTE hides a view, and a view sees no CTE of who selects from it', () => {
  const views: Texts = { a: view('SELECT 1 AS x'), b: view('SELECT y FROM mine') };
  assert.deepEqual(prepare('WITH a AS (SELECT 2 AS y) SELECT y FROM a', views).bound.views, []);
  const error = refusal('WITH mine AS (SELECT 2 AS y) SELECT y FROM b', views);
  assert.equal(error.message, 'in b, line 1, column 15: there is no table mine');
});

test('a name that is a source and a view is refused', () => {
  const { message } = refusal('SELECT id FROM `edge.logs`', { 'edge.logs': OWN });
  assert.equal(message, 'edge.logs is both a source and a saved query');
});

test('an error in a view is told with its place there, at the place that names it', () => {
  for (const [text, reason] of [
    ['SELECT 1 AS x,\n  oops', 'in bad, line 2, column 3: there is no column oops'],
    ['SELECT 1 AS x,\n\n FROM', 'in bad, line 3, column 6: expected a table'],
  ] as const) {
    const error = refusal('SELECT x FROM\n   bad', { bad: view(text) });
    assert.ok(error.message.startsWith(reason), error.message);
    assert.deepEqual([error.span?.line, error.span?.column], [2, 4]);
    assert.equal(error.span?.view, undefined);
  }
});

test('an error in a view of a view names the one it is in', () => {
  const views: Texts = { a: view('SELECT x FROM b'), b: view('SELECT oops AS x') };
  const error = refusal('SELECT x FROM a', views);
  assert.match(error.message, /^in b, line 1, column 8: there is no column oops/);
  assert.equal(error.span?.column, 15);
});

test('a text that comes to itself is refused with the way it took', () => {
  const views: Texts = {
    main: view('SELECT x FROM a'),
    a: view('SELECT x FROM b'),
    b: view('SELECT x FROM main'),
  };
  assert.match(
    refusal('SELECT x FROM a', views).message,
    /main selects from itself: main → a → b → main$/,
  );
  const loop: Texts = { a: view('SELECT x FROM a') };
  assert.match(refusal('SELECT x FROM a', loop).message, /a selects from itself: a → a$/);
});

test('views may be nested so deep and no deeper', () => {
  const chain = (length: number): Texts =>
    Object.fromEntries(
      Array.from({ length }, (_, index) => [
        `v${index}`,
        view(index === length - 1 ? 'SELECT 1 AS x' : `SELECT x FROM v${index + 1}`),
      ]),
    );
  prepare('SELECT x FROM v0', chain(VIEW_DEPTH_MAX));
  const error = refusal('SELECT x FROM v0', chain(VIEW_DEPTH_MAX + 1));
  assert.equal(error.code, 'query_limit');
  assert.match(error.message, /views may be nested 8 deep; got main → v0 → .* → v8$/);
});

test('a parameter has one type in all texts, and the text itself names only its own', () => {
  const number = { name: 'Project', type: INT64 };
  const views: Texts = { a: OWN, b: view('SELECT @project AS x', number) };
  assert.match(
    refusal('SELECT id FROM a', views, [number]).message,
    /parameter @Project must have one type; it is INT64 here and STRING in another text/,
  );
  assert.match(
    refusal('SELECT id FROM a, b', views).message,
    /^in b, line 1, column 8: parameter @project must have one type; it is INT64 here and STRING/,
  );
  assert.match(
    refusal('SELECT @project AS p FROM a', views).message,
    /there is no parameter @project/,
  );
});

test('a caller’s text reaches views through the tables of the definition alone', () => {
  const views: Texts = { 'app.own': OWN };
  const outer = prepare('WITH entries AS (SELECT * FROM app.own) SELECT id FROM entries', views);
  const inner = prepare('SELECT text FROM entries', views, [PROJECT], [outer.commonTables]);
  assert.match(planText(inner.bound.plan), /scan `edge.logs`/);
  const error = refusal('SELECT text FROM app.own', views, [PROJECT], [outer.commonTables]);
  assert.equal(error.message, 'there is no table app.own here: there are entries');
});

test('a name that is nearly that of a view is hinted at', () => {
  const { message } = refusal('SELECT id FROM app.onw', { 'app.own': OWN });
  assert.equal(message, 'there is no table app.onw; did you mean app.own?');
});
