import assert from 'node:assert/strict';
import { acknowledgedByItems } from './bulk-items.ts';
import { documentedOptions } from './documented-sender.ts';
import { missingPackages, packageVersion, startNodeProgram } from './node-program.ts';
import type { Sender } from './sender.ts';

const NAME = '@elastic/elasticsearch';

/**
 * Elastic's client makes an index template and a data stream, and then sends bulks with `filter_path`. It repeats a
 * bulk three times at once, then throws.
 */
export const elasticsearch: Sender = {
  name: NAME,
  version: () => packageVersion(NAME),
  missing: missingPackages,
  keeps: 'tells',
  start: (target) => startNodeProgram('elasticsearch', target, documentedOptions(NAME, target)),
  acknowledged: acknowledgedByItems,
  arrives: ({ project, metadata }) => {
    assert.equal(project, 'alpha');
    assert.deepEqual(metadata, [{ order: 7 }]);
  },
};
