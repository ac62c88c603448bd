import assert from 'node:assert/strict';
import { uncompress } from 'snappyjs';
import { documentedOptions } from './documented-sender.ts';
import { missingPackages, packageVersion, startNodeProgram } from './node-program.ts';
import { eventNames, type Sender } from './sender.ts';

function readBody(body: Buffer): Buffer {
  try {
    return Buffer.from(uncompress(body));
  } catch {
    return body;
  }
}

/** It posts protobuf, compressed with Snappy, and repeats what was refused. */
export const winstonLoki: Sender = {
  name: 'winston-loki',
  version: () => packageVersion('winston-loki'),
  missing: missingPackages,
  keeps: 'everything',
  start: (target) =>
    startNodeProgram('winston-loki', target, documentedOptions('winston-loki', target)),
  readBody,
  acknowledged: ({ status, requestBody }) =>
    status === 204 ? eventNames(readBody(requestBody)) : [],
  arrives: ({ event_message, project, metadata }) => {
    assert.match(event_message, / was made \{"order":7,"level":"info"\}$/);
    assert.equal(project, 'alpha');
    assert.equal(metadata[0].labels[0].level, 'info');
  },
};
