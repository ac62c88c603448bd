import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { findNodeProblem } from '../../src/node-version.ts';

test('an older Node is refused in a sentence that names both versions', () => {
  for (const version of ['18.20.8', '20.18.3', '9.11.2']) {
    assert.equal(findNodeProblem(version), `weir needs Node.js 20.19 or later; this is ${version}`);
  }
});

test('the oldest Node that is allowed, and later ones, are not refused', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
  const oldest = engines.node.replace('>=', '');
  for (const version of [`${oldest}.0`, '20.20.2', '24.0.0', process.versions.node]) {
    assert.equal(findNodeProblem(version), undefined);
  }
  assert.match(findNodeProblem('1.0.0') ?? '', new RegExp(`Node\\.js ${oldest} or later`));
});
