import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** A line of a stream in a push of Loki. */
export type LokiLine = {
  readonly seconds: bigint;
  readonly nanos?: number;
  readonly line: string | Uint8Array;
  readonly metadata?: Readonly<Record<string, string>>;
};

/** A `PushRequest` as Loki's senders write it, before compression. */
export function lokiPushBytes(
  streams: readonly { readonly labels: string | Uint8Array; readonly lines: readonly LokiLine[] }[],
): Uint8Array {
  const request = new BinaryWriter();
  for (const { labels, lines } of streams) {
    const stream = writeText(new BinaryWriter(), 1, labels);
    for (const line of lines) writeMessage(stream, 2, entryBytes(line));
    writeMessage(request, 1, stream.tag(3, WireType.Varint).uint64(7n).finish());
  }
  return request.finish();
}

function entryBytes({ seconds, nanos = 0, line, metadata = {} }: LokiLine): Uint8Array {
  const time = new BinaryWriter().tag(1, WireType.Varint).int64(seconds);
  if (nanos !== 0) time.tag(2, WireType.Varint).int32(nanos);
  const entry = writeText(writeMessage(new BinaryWriter(), 1, time.finish()), 2, line);
  for (const [name, value] of Object.entries(metadata)) {
    const pair = writeText(writeText(new BinaryWriter(), 1, name), 2, value);
    writeMessage(entry, 3, pair.finish());
  }
  return entry.finish();
}

function writeText(writer: BinaryWriter, field: number, text: string | Uint8Array): BinaryWriter {
  return writeMessage(writer, field, Buffer.from(text));
}

function writeMessage(writer: BinaryWriter, field: number, bytes: Uint8Array): BinaryWriter {
  return writer.tag(field, WireType.LengthDelimited).bytes(bytes);
}
