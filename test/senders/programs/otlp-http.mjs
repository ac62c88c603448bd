import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { logThroughExporter } from './otlp.mjs';

await logThroughExporter(OTLPLogExporter);
