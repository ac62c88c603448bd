import { SeverityNumber } from '@opentelemetry/api-logs';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { logRecords, OPTIONS, tellDropped, WEIR_PROJECT } from './application.mjs';

/** Logs through an exporter of OpenTelemetry; what it says it could not deliver is told. */
export async function logThroughExporter(OTLPLogExporter) {
  const exporter = new OTLPLogExporter(OPTIONS);
  const told = {
    export: (records, done) =>
      exporter.export(records, (result) => {
        if (result.code !== 0) {
          process.stderr.write(`${result.error?.stack}\n`);
          tellDropped(...records.map(({ body }) => body));
        }
        done(result);
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
  const provider = new LoggerProvider({
    resource: resourceFromAttributes({ 'service.name': 'shop', project: WEIR_PROJECT }),
    processors: [
      new BatchLogRecordProcessor({
        exporter: told,
        scheduledDelayMillis: 200,
        // Beyond it records are dropped unsaid.
        maxQueueSize: 100_000,
      }),
    ],
  });
  const logger = provider.getLogger('orders', '1.0');
  await logRecords(({ message, timeMs, fields }) => {
    logger.emit({
      body: message,
      severityNumber: SeverityNumber.INFO,
      severityText: 'INFO',
      attributes: fields ?? {},
      timestamp: timeMs,
    });
  });
  await provider.shutdown();
}
