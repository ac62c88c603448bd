import assert from 'node:assert/strict';
import { documentedOptions } from './documented-sender.ts';
import { missingPackages, packageVersion, startNodeProgram } from './node-program.ts';
import { acknowledgedByStatus, type Sender } from './sender.ts';

/** It posts each batch once, and writes to its terminal when that has failed. */
export const pinoLoki: Sender = {
  name: 'pino-loki',
  version: () => packageVersion('pino-loki'),
  missing: missingPackages,
  keeps: 'nothing',
  start: (target) => startNodeProgram('pino-loki', target, documentedOptions('pino-loki', target)),
  acknowledged: acknowledgedByStatus,
  arrives: ({ event_message, project, metadata }) => {
    assert.equal(JSON.parse(event_message).order, 7);
    assert.equal(project, 'alpha');
    assert.equal(metadata[0].labels[0].level, 'info');
  },
};
