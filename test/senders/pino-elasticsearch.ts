import assert from 'node:assert/strict';
import type { Exchange } from './http-tap.ts';
import { missingPackages, startNodeProgram } from './node-program.ts';
import { eventNames, type Sender } from './sender.ts';

/**
 * It posts a batch up to four times within some seconds. When that has failed, it goes on with the next, or, if
 * others were stored meanwhile, does nothing any more; which it is, its application cannot know.
 */
export const pinoElasticsearch: Sender = {
  name: 'pino-elasticsearch 9.0.0',
  missing: missingPackages,
  keeps: 'nothing',
  start: (target) => startNodeProgram('pino-elasticsearch', target),
  acknowledged: acknowledgedByItems,
  arrives: ({ project, metadata }) => {
    assert.equal(project, 'alpha');
    assert.deepEqual(metadata, [{ level: 30, order: 7 }]);
  },
};

/** Each item of a bulk has a status of its own. */
export function acknowledgedByItems({
  status,
  requestBody,
  responseBody,
}: Exchange): readonly string[] {
  if (status !== 200 || !requestBody.includes('\n')) return [];
  const { items } = JSON.parse(responseBody.toString()) as {
    readonly items: readonly Readonly<Record<string, { readonly status: number }>>[];
  };
  const documents = requestBody
    .toString()
    .split('\n')
    .filter((_line, index) => index % 2 === 1);
  return items.flatMap((item, index) =>
    Object.values(item)[0]!.status < 300 ? eventNames(documents[index]!) : [],
  );
}
