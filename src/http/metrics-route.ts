import type { Metrics } from '../metrics/metrics.ts';
import { sendBytes } from './response.ts';
import type { GuardedOperation } from './route.ts';

/** Answers with the metrics of the service. */
export function metricsHandler(metrics: Metrics): GuardedOperation['handle'] {
  return async (_request, response) => {
    response.setHeader('Cache-Control', 'no-store');
    sendBytes(response, 200, metrics.contentType, [Buffer.from(await metrics.text())]);
  };
}
