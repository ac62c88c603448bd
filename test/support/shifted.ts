import type { JsonObject, Row } from '../oracle/oracle.ts';
import { us } from '../scripts/script.ts';
import type { Answerer, Parameters } from './answerer.ts';

/**
 * The same answerer at another time: whatever is posted lies `shiftUs` later, and the rows come
 * back as if it did not. One service can so take many scripts, each out of sight of the next. Takes
 * timestamps as ISO texts in UTC only.
 */
export function shifted(answerer: Answerer, shiftUs: number): Answerer {
  return {
    post(source, events, nowUs) {
      return answerer.post(
        source,
        events.map((event) => later(event, shiftUs)),
        nowUs + shiftUs,
      );
    },
    async call(endpoint, parameters, nowUs) {
      const rows = await answerer.call(
        endpoint,
        laterParameters(parameters, shiftUs),
        nowUs + shiftUs,
      );
      return rows.map((row) => earlier(row, shiftUs));
    },
  };
}

function later(event: JsonObject, shiftUs: number): JsonObject {
  return { ...event, timestamp: us(event['timestamp'] as string) + shiftUs };
}

function laterParameters(parameters: Parameters, shiftUs: number): Parameters {
  const moved = { ...parameters };
  for (const name of ['iso_timestamp_start', 'iso_timestamp_end']) {
    const text = moved[name] ?? '';
    if (text === '') continue;
    moved[name] = text.replace(/^[^Z+]*/, (local) => isoSecond(us(local) + shiftUs));
  }
  return moved;
}

function earlier(row: Row, shiftUs: number): Row {
  const timestamp = row['timestamp'];
  return {
    ...row,
    timestamp:
      typeof timestamp === 'string'
        ? isoSecond(us(timestamp) - shiftUs)
        : (timestamp as number) - shiftUs,
  };
}

function isoSecond(timestampUs: number): string {
  return new Date(timestampUs / 1000).toISOString().slice(0, 19);
}
