import assert from 'node:assert/strict';
import { documentedOptions } from './documented-sender.ts';
import { missingPackages, packageVersion, startNodeProgram } from './node-program.ts';
import { acknowledgedByStatus, type Sender } from './sender.ts';

/** It posts each event once, and loses what is logged while a batch is under way that was sent by its timer. */
export const pinoLogflare: Sender = {
  name: 'pino-logflare',
  version: () => packageVersion('pino-logflare'),
  missing: missingPackages,
  keeps: 'nothing',
  start: (target) =>
    startNodeProgram('pino-logflare', target, documentedOptions('pino-logflare', target)),
  acknowledged: acknowledgedByStatus,
  arrives: ({ project, metadata }) => {
    assert.equal(project, null);
    assert.deepEqual(metadata, [{ project: 'alpha', order: 7, context: [{}], level: 'info' }]);
  },
};
