import { must } from '../../engine/columns.ts';
import { cloudEvents } from './cloud-events.ts';
import { datadogLines, datadogLogs } from './datadog.ts';
import { documentLines, documents } from './documents.ts';
import { elasticsearchBulk } from './elasticsearch-bulk.ts';
import { elasticsearchDocument } from './elasticsearch-document.ts';
import { elixirLogger } from './elixir-logger.ts';
import { firehose } from './firehose.ts';
import { gelf } from './gelf.ts';
import { journalExport } from './journal-export.ts';
import { logpush } from './logpush.ts';
import { lokiProtobuf } from './loki-protobuf.ts';
import { lokiPush } from './loki-push.ts';
import {
  otlpDataPointsJson,
  otlpDataPointsProtobuf,
  otlpSpansJson,
  otlpSpansProtobuf,
} from './otlp-counts.ts';
import { otlpJson } from './otlp-json.ts';
import { otlpProtobuf } from './otlp-protobuf.ts';
import { splunkEvents, splunkLines } from './splunk-hec.ts';
import { syslog } from './syslog.ts';
import { typecasts } from './typecasts.ts';
import type { WireFormat } from './wire-format.ts';

/** All formats of other senders, by name: a message between threads can carry the name, but not the format's functions. */
const FORMATS: ReadonlyMap<string, WireFormat<unknown>> = new Map<string, WireFormat<unknown>>(
  Object.entries({
    ...{ cloudEvents, documents, documentLines, elasticsearchBulk, elixirLogger, logpush },
    ...{ firehose, gelf, journalExport, lokiProtobuf, lokiPush, otlpJson, otlpProtobuf, syslog },
    ...{ typecasts, splunkEvents, splunkLines, datadogLogs, datadogLines },
    ...{ elasticsearchDocument },
    ...{ otlpSpansJson, otlpSpansProtobuf, otlpDataPointsJson, otlpDataPointsProtobuf },
  }),
);

/** The name of a listed format. */
export function nameOfFormat(format: WireFormat<unknown>): string {
  const [name] = must(
    [...FORMATS].find(([, listed]) => listed === format),
    'every format of a door is listed',
  );
  return name;
}

/** The format of a name that `nameOfFormat` returned. */
export function formatOfName(name: string): WireFormat<unknown> {
  return must(FORMATS.get(name), `${name} is a format`);
}
