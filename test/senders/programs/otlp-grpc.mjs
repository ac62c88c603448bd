import { Metadata } from '@grpc/grpc-js';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-grpc';
import { logThroughExporter } from './otlp.mjs';

/** `metadata` has to be of gRPC's class, and comes as an object. */
class GrpcLogExporter extends OTLPLogExporter {
  constructor({ metadata, ...options }) {
    const own = new Metadata();
    for (const [name, value] of Object.entries(metadata)) own.set(name, value);
    super({ ...options, metadata: own });
  }
}

await logThroughExporter(GrpcLogExporter);
