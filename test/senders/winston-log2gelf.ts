import assert from 'node:assert/strict';
import { documentedOptions } from './documented-sender.ts';
import { missingPackages, packageVersion, startNodeProgram } from './node-program.ts';
import { acknowledgedByStatus, type Sender } from './sender.ts';

const NAME = 'winston-log2gelf';

/** It posts each event once, and does not look at the answer. */
export const winstonLog2gelf: Sender = {
  name: NAME,
  version: () => packageVersion(NAME),
  missing: missingPackages,
  keeps: 'nothing',
  isStampedLate: true,
  start: (target) => startNodeProgram(NAME, target, documentedOptions(NAME, target)),
  acknowledged: acknowledgedByStatus,
  arrives: ({ project, metadata }) => {
    assert.equal(project, 'alpha');
    assert.equal(metadata[0].order, 7);
  },
};
