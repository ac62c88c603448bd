import { must } from '../../engine/columns.ts';
import { JsonReader } from './json-reader.ts';
import { oneBuffer, parseFields, parseMessage, stepsOf } from './protobuf.ts';
import { WantedKeys } from './wanted-keys.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/** The members of a message that lead to what is counted. */
type Step = {
  /** Field numbers by the names in JSON. */
  readonly numbers: ReadonlyMap<string, number>;
  /** Whether each is a list of messages, and not one message. */
  readonly isList: boolean;
};

/** What is counted: the elements of the last list of a path, which begins at the request. */
type Counted = { readonly message: string; readonly path: readonly Step[] };

function makeListStep(name: string, number: number): Step {
  return { numbers: new Map([[name, number]]), isList: true };
}

/** Spans (opentelemetry-proto, `collector/trace/v1`, `trace/v1`). */
const SPANS: Counted = {
  message: 'an ExportTraceServiceRequest',
  path: [makeListStep('resourceSpans', 1), makeListStep('scopeSpans', 2), makeListStep('spans', 2)],
};

/** Data points of any kind of metric (opentelemetry-proto, `collector/metrics/v1`, `metrics/v1`). */
const DATA_POINTS: Counted = {
  message: 'an ExportMetricsServiceRequest',
  path: [
    makeListStep('resourceMetrics', 1),
    makeListStep('scopeMetrics', 2),
    makeListStep('metrics', 2),
    {
      numbers: new Map([
        ['gauge', 5],
        ['sum', 7],
        ['histogram', 9],
        ['exponentialHistogram', 10],
        ['summary', 11],
      ]),
      isList: false,
    },
    makeListStep('dataPoints', 1),
  ],
};

/**
 * Requests of OpenTelemetry's protocol that are no logs: they have no events, and their spans or data points are
 * counted. The notes are a list with the number. Nothing else of a request is read.
 */
export const otlpSpansJson = countingJson(SPANS);
export const otlpSpansProtobuf = countingProtobuf(SPANS);
export const otlpDataPointsJson = countingJson(DATA_POINTS);
export const otlpDataPointsProtobuf = countingProtobuf(DATA_POINTS);

function countingJson({ message, path }: Counted): WireFormat<readonly number[]> {
  return {
    *translate(body: WireBody): Generator<number, readonly number[]> {
      const reader = new JsonReader(body.pieces, body);
      const keys = new WantedKeys(...path[0]!.numbers.keys());
      const count = yield* countInJson(reader, path, (key) => keys.add(key));
      reader.endText();
      // Another product's body is refused, as one with logs would be.
      keys.check(message, { mayBeEmpty: true });
      return [count];
    },
  };
}

/** Counts below the next object. */
function* countInJson(
  reader: JsonReader,
  [step, ...path]: readonly Step[],
  onKey: (key: string) => void = () => {},
): Generator<number, number> {
  const { numbers, isList } = must(step, 'a path ends with a list');
  let count = 0;
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    onKey(key);
    yield reader.position;
    if (!numbers.has(key) || reader.kind() === 'null') continue;
    if (!isList) {
      count += yield* countInJson(reader, path);
      continue;
    }
    reader.enterList();
    while (reader.hasNext()) {
      if (path.length === 0) count++;
      else count += yield* countInJson(reader, path);
      yield reader.position;
    }
  }
  return count;
}

function countingProtobuf({ message, path }: Counted): WireFormat<readonly number[]> {
  return {
    *translate(body: WireBody): Generator<number, readonly number[]> {
      const steps = countInProtobuf(oneBuffer(body.pieces), path);
      return [yield* stepsOf(steps, message)];
    },
  };
}

function* countInProtobuf(
  bytes: Uint8Array,
  [step, ...path]: readonly Step[],
): Generator<number, number> {
  const wanted = [...must(step, 'a path ends with a list').numbers.values()];
  let count = 0;
  for (const { field, type, reader } of parseFields(bytes)) {
    if (wanted.includes(field)) {
      const message = parseMessage(reader, type);
      if (path.length === 0) count++;
      else count += yield* countInProtobuf(message, path);
    }
    // Nothing is skipped byte by byte, so only the number of fields counts.
    yield 0;
  }
  return count;
}
