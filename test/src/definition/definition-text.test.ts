import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseDefinitionFile } from '../../../src/definition/definition-file.ts';
import { definitionText, withVersion } from '../../../src/definition/definition-text.ts';
import { DEFINITION } from './any-definition.ts';

/** Parses a file after a round trip through bytes. */
function read(fileText: string) {
  return parseDefinitionFile('a.sql', Buffer.from(fileText).toString()).definition;
}

test('law: a definition survives formatting and parsing', () => {
  fc.assert(
    fc.property(DEFINITION, (definition) => {
      assert.deepEqual(read(definitionText(definition)), definition);
    }),
  );
});

test('law: changing the version changes nothing else', () => {
  fc.assert(
    fc.property(DEFINITION, fc.integer({ min: 1, max: 1e9 }), (definition, version) => {
      const changed = withVersion(definitionText(definition), version);
      assert.deepEqual(read(changed), { ...definition, version });
      assert.equal(withVersion(changed, definition.version), definitionFirst(definition));
    }),
  );

  /** The file with its version, if it has one, in the first line. */
  function definitionFirst(definition: Parameters<typeof definitionText>[0]): string {
    return withVersion(definitionText(definition), definition.version);
  }
});

test('defaults are left out of a file', () => {
  const text = '-- id: 22222222-2222-4333-8444-555555555555\n-- name: a\n\nSELECT 1';
  assert.equal(
    definitionText(read(text)),
    '-- id: 22222222-2222-4333-8444-555555555555\n-- name: a\n-- max_rows: 1000\n\nSELECT 1\n',
  );
});

test('a word is quoted where it would otherwise be misread', () => {
  const line =
    '-- param: mode string default="very fast" enum("very fast", "a,b", plain, "") from=m,n';
  const text = `-- id: 22222222-2222-4333-8444-555555555555\n-- name: a\n-- max_rows: 7\n${line}\n\nSELECT @mode\n`;
  assert.equal(definitionText(read(text)), text);
});

test('version lines in the statement or of one profile are not the header’s version', () => {
  const head = '-- id: 22222222-2222-4333-8444-555555555555\n-- name: a\n';
  const text = `${head}-- version: 3\n--version[supabase] : 4\n\n-- version: 5\nSELECT 1\n`;
  assert.equal(withVersion(text, 6), `-- version: 6\n${head}\n-- version: 5\nSELECT 1\n`);
  assert.equal(read(text).version, 3);
});
