import assert from 'node:assert/strict';
import { documentedOptions } from './documented-sender.ts';
import { missingPackages, packageVersion, startNodeProgram } from './node-program.ts';
import { acknowledgedByStatus, type Sender } from './sender.ts';

const NAME = 'splunk-logging';

/** It repeats a batch only after a lost connection, as often as its options say, and reports batches that it gives up. */
export const splunkLogging: Sender = {
  name: NAME,
  version: () => packageVersion(NAME),
  missing: missingPackages,
  keeps: 'tells',
  start: (target) => startNodeProgram(NAME, target, documentedOptions(NAME, target)),
  acknowledged: acknowledgedByStatus,
  arrives: ({ project, metadata }) => {
    assert.equal(project, 'alpha');
    assert.deepEqual(metadata, [{ event: [{ order: 7, severity: 'info' }] }]);
  },
};
