import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILT_IN_SOURCES, SourceDirectory, sourcesFrom } from '../../ingest/source.ts';

test('the nine built-in sources have their project rules, and ids that never change', () => {
  assert.equal(BUILT_IN_SOURCES.length, 9);
  const rules = Object.fromEntries(
    BUILT_IN_SOURCES.map((source) => [source.name, source.projectPath.join('.')]),
  );
  assert.equal(rules['cloudflare.logs.prod'], 'project');
  assert.equal(rules['deno-relay-logs'], 'metadata.project_ref');
  assert.equal(rules['deno-subhosting-events'], 'metadata.project_ref');
  assert.equal(rules['realtime.logs.prod'], 'metadata.project');
  assert.equal(rules['storage.logs.prod.2'], 'metadata.project');
  assert.equal(new Set(BUILT_IN_SOURCES.map((source) => source.id)).size, 9);
  assert.equal(BUILT_IN_SOURCES[0]!.id, 'fdff357e-26a0-522f-8e0f-3e31f2b834d3');
  for (const { id } of BUILT_IN_SOURCES) {
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
});

test('a source is found by exact name, and by id in any case', () => {
  const { sources, errors } = sourcesFrom(' my-app , edge.2:metadata.tenant.ref ,');
  assert.deepEqual(errors, []);
  const directory = new SourceDirectory(sources);
  assert.equal(directory.sources.length, 11);
  assert.deepEqual(directory.findByName('my-app')?.projectPath, ['project']);
  const edge = directory.findByName('edge.2')!;
  assert.deepEqual(edge.projectPath, ['metadata', 'tenant', 'ref']);
  assert.equal(directory.findById(edge.id), edge);
  assert.equal(directory.findById(edge.id.toUpperCase()), edge);
  assert.equal(directory.findByName('My-App'), undefined);
  assert.equal(directory.findByName(edge.id), undefined);
  assert.equal(directory.findById('edge.2'), undefined);
});

test('no setting adds no source', () => {
  assert.deepEqual(sourcesFrom(''), { sources: [], errors: [] });
});

test('each wrong entry of the setting is named', () => {
  const text = `ok, two words, ok, postgres.logs, x:metadata, y:request.id, z:metadata.a-b, ${'n'.repeat(129)}, b6f1d5d2-c0a9-4d0e-9a3c-7f5e21084c6b, :project`;
  const { sources, errors } = sourcesFrom(text);
  assert.deepEqual(
    sources.map((source) => source.name),
    ['ok'],
  );
  assert.equal(errors.length, 9);
  const expected = [
    /"two words"/,
    /"ok" is taken/,
    /"postgres.logs" is taken/,
    /"x".*got "metadata"/,
    /"y".*"request.id"/,
    /"z"/,
    /128 characters; got 129/,
    /UUID/,
    /got ""/,
  ];
  for (const [index, error] of errors.entries()) assert.match(error, expected[index]!);
});
