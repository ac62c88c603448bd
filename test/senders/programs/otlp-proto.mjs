import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { logThroughExporter } from './otlp.mjs';

await logThroughExporter(OTLPLogExporter);
