import assert from 'node:assert/strict';
import { acknowledgedByItems } from './bulk-items.ts';
import { documentedOptions } from './documented-sender.ts';
import { missingPackages, packageVersion, startNodeProgram } from './node-program.ts';
import type { Sender } from './sender.ts';

const NAME = 'winston-elasticsearch';

/** It keeps what was not acknowledged, and sends it when it can connect again. */
export const winstonElasticsearch: Sender = {
  name: NAME,
  version: () => packageVersion(NAME),
  missing: missingPackages,
  keeps: 'everything',
  start: (target) => startNodeProgram(NAME, target, documentedOptions(NAME, target)),
  acknowledged: acknowledgedByItems,
  arrives: ({ metadata }) => {
    assert.equal(metadata[0].severity, 'info');
    assert.equal(metadata[0].fields[0].order, 7);
  },
};
