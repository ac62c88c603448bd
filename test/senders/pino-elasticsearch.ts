import assert from 'node:assert/strict';
import { acknowledgedByItems } from './bulk-items.ts';
import { documentedOptions } from './documented-sender.ts';
import { missingPackages, packageVersion, startNodeProgram } from './node-program.ts';
import type { Sender } from './sender.ts';

/**
 * It posts a batch up to four times within some seconds. When that has failed, it goes on with the next, or, if
 * others were stored meanwhile, does nothing any more; which it is, its application cannot know.
 */
export const pinoElasticsearch: Sender = {
  name: 'pino-elasticsearch',
  version: () => packageVersion('pino-elasticsearch'),
  missing: missingPackages,
  keeps: 'nothing',
  start: (target) =>
    startNodeProgram('pino-elasticsearch', target, documentedOptions('pino-elasticsearch', target)),
  acknowledged: acknowledgedByItems,
  arrives: ({ project, metadata }) => {
    assert.equal(project, 'alpha');
    assert.deepEqual(metadata, [{ level: 30, order: 7 }]);
  },
};
