import assert from 'node:assert/strict';
import { documentedOptions } from './documented-sender.ts';
import { missingPackages, packageVersion, startNodeProgram } from './node-program.ts';
import { acknowledgedByStatus, eventNames, type Sender } from './sender.ts';

/** It tries five times, within ten seconds, then tells its diagnostics; over gRPC it tries once. */
function otlp(encoding: 'http' | 'proto' | 'grpc'): Sender {
  const name = `@opentelemetry/exporter-logs-otlp-${encoding}`;
  return {
    name,
    version: () => packageVersion(name),
    missing: missingPackages,
    keeps: 'tells',
    start: (target) =>
      startNodeProgram(`otlp-${encoding}`, target, documentedOptions(name, target)),
    acknowledged: acknowledgedByStatus,
    arrives: ({ project, metadata }) => {
      assert.equal(project, 'alpha');
      assert.deepEqual(metadata, [
        {
          severity_number: 9,
          severity_text: 'INFO',
          attributes: [{ order: 7 }],
          resource: [{ 'service.name': 'shop', project: 'alpha' }],
          scope: [{ name: 'orders', version: '1.0' }],
        },
      ]);
    },
  };
}

export const otlpJson = otlp('http');
export const otlpProtobuf = otlp('proto');

export const otlpGrpc: Sender = {
  ...otlp('grpc'),
  speaks: 'grpc',
  acknowledged: ({ status, requestBody }) => (status === 0 ? eventNames(requestBody) : []),
};
