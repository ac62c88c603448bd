import assert from 'node:assert/strict';
import { documentedOptions } from './documented-sender.ts';
import { missingPackages, packageVersion, startNodeProgram } from './node-program.ts';
import { acknowledgedByStatus, type Sender } from './sender.ts';

const NAME = '@datadog/datadog-api-client';

/** It repeats a post after 429 and 5xx, but not after a lost connection, and then throws. */
export const datadog: Sender = {
  name: NAME,
  version: () => packageVersion(NAME),
  missing: missingPackages,
  keeps: 'tells',
  settings: { DEFAULT_SOURCE: 'app.logs' },
  start: (target) => {
    // In place of `baseServer`, which is an object of a class of the package.
    const url = `http://127.0.0.1:${target.port}`;
    return startNodeProgram('datadog', target, { ...documentedOptions(NAME, target), url });
  },
  acknowledged: acknowledgedByStatus,
  arrives: ({ project, metadata }) => {
    assert.equal(project, 'alpha');
    assert.deepEqual(metadata, [
      { service: 'shop', ddtags: 'project:alpha', tags: [{ project: 'alpha' }], order: 7 },
    ]);
  },
};
