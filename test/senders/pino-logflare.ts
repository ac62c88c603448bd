import assert from 'node:assert/strict';
import { missingPackages, startNodeProgram } from './node-program.ts';
import { acknowledgedByStatus, type Sender } from './sender.ts';

/** It posts each event once, and loses what is logged while a batch is under way that was sent by its timer. */
export const pinoLogflare: Sender = {
  name: 'pino-logflare 0.5.2',
  missing: missingPackages,
  keeps: 'nothing',
  start: (target) => startNodeProgram('pino-logflare', target),
  acknowledged: acknowledgedByStatus,
  arrives: ({ project, metadata }) => {
    assert.equal(project, null);
    assert.deepEqual(metadata, [{ project: 'alpha', order: 7, context: [{}], level: 'info' }]);
  },
};
