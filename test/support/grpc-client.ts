import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { must } from '../../engine/assert.ts';

/** How a call ended. */
export type GrpcAnswer = {
  /** The status of HTTP. */
  readonly httpStatus: number;
  /** That of gRPC; `undefined` if the call was cut off without one. */
  readonly status: number | undefined;
  readonly message: string;
  /** Seconds after which the service wants to be asked again. */
  readonly retryAfterS: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  /** The message without its prefix; `undefined` if there is none. */
  readonly body: Buffer | undefined;
};

export const LOGS_METHOD = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
export const TRACES_METHOD = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
export const METRICS_METHOD = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';

type CallOptions = {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
};

/** A message with its prefix. */
export function frame(message: Uint8Array, flag = 0, size = message.length): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flag, 0);
  prefix.writeUInt32BE(size, 1);
  return Buffer.concat([prefix, message]);
}

/** One connection of gRPC, on which a test may send any bytes. */
export class GrpcClient {
  readonly session: ClientHttp2Session;
  readonly #token: string;

  private constructor(session: ClientHttp2Session, token: string) {
    this.session = session;
    this.#token = token;
  }

  /** Calls `work` with a connection, and closes it. */
  static async use(
    { port, token }: { readonly port: number; readonly token: string },
    work: (client: GrpcClient) => Promise<void>,
  ): Promise<void> {
    // Node refuses answers while more of this memory is used, and a test may send more than 10 MB.
    const session = connect(`http://127.0.0.1:${port}`, { maxSessionMemory: 1_000 });
    session.on('error', () => {});
    try {
      await work(new GrpcClient(session, token));
    } finally {
      session.destroy();
    }
  }

  /** Begins a call without sending any of its body. */
  begin({ path = LOGS_METHOD, headers = {} }: CallOptions = {}): ClientHttp2Stream {
    const all = {
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization: `Bearer ${this.#token}`,
      ...headers,
    };
    const stream = this.session.request(
      Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
      { endStream: false },
    );
    stream.on('error', () => {});
    return stream;
  }

  /** Sends the whole body of a call, and returns how it ended. */
  async send(body: Uint8Array, options: CallOptions = {}): Promise<GrpcAnswer> {
    const stream = this.begin(options);
    const ended = answerOf(stream);
    stream.end(body);
    return await ended;
  }

  /** Calls a method with a message that is not compressed. */
  call(message: Uint8Array, options: CallOptions = {}): Promise<GrpcAnswer> {
    return this.send(frame(message), options);
  }
}

/** How a call ends. Must be called before that. */
export async function answerOf(stream: ClientHttp2Stream): Promise<GrpcAnswer> {
  let headers: Record<string, unknown> = {};
  let trailers: Record<string, unknown> = {};
  const chunks: Buffer[] = [];
  stream.on('response', (got) => {
    headers = got;
  });
  stream.on('trailers', (got) => {
    trailers = got;
  });
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(stream, 'close');
  // A failure has its status in its only headers.
  const told = trailers['grpc-status'] === undefined ? headers : trailers;
  const status = told['grpc-status'];
  const details = told['grpc-status-details-bin'];
  const body = Buffer.concat(chunks);
  return {
    httpStatus: Number(headers[':status']),
    status: status === undefined ? undefined : Number(status),
    message: decodeURIComponent(String(told['grpc-message'] ?? '')),
    retryAfterS: typeof details === 'string' ? retryAfterOf(details) : undefined,
    headers,
    body: body.length === 0 ? undefined : body.subarray(5),
  };
}

/** The value of a field that a message begins with, or of one after it. */
function fieldOf(message: Uint8Array, wanted: number): Uint8Array {
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === wanted && type === WireType.LengthDelimited) return reader.bytes();
    reader.skip(type);
  }
  throw new Error(`there is no field ${wanted}`);
}

/** The delay of a `google.rpc.RetryInfo` in a `google.rpc.Status`. */
function retryAfterOf(base64: string): number {
  const any = fieldOf(Buffer.from(base64, 'base64'), 3);
  const type = Buffer.from(fieldOf(any, 1)).toString();
  must(type === 'type.googleapis.com/google.rpc.RetryInfo' ? type : undefined, type);
  const duration = new BinaryReader(fieldOf(fieldOf(any, 2), 1));
  duration.tag();
  return Number(duration.int64());
}

/** A message with these messages under a field. */
export function under(field: number, ...messages: readonly Uint8Array[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const message of messages) writer.tag(field, WireType.LengthDelimited).bytes(message);
  return writer.finish();
}

/** An ExportLogsServiceRequest with one record that has this text and every other field. */
export function logsMessage(text: string, timeUs: number): Uint8Array {
  const value = (each: string): Uint8Array => under(1, Buffer.from(each));
  const attribute = (key: string, each: string): Uint8Array =>
    Buffer.concat([under(1, Buffer.from(key)), under(2, value(each))]);
  const record = Buffer.concat([
    new BinaryWriter()
      .tag(1, WireType.Bit64)
      .fixed64(BigInt(timeUs) * 1000n)
      .finish(),
    new BinaryWriter().tag(2, WireType.Varint).int32(17).finish(),
    under(3, Buffer.from('ERROR')),
    under(5, value(text)),
    under(6, attribute('http.route', '/orders')),
    new BinaryWriter().tag(8, WireType.Bit32).fixed32(1).finish(),
    under(9, Buffer.from('5b8efff798038103d269b633813fc60c', 'hex')),
    under(10, Buffer.from('eee19b7ec3c1b174', 'hex')),
  ]);
  const scope = Buffer.concat([under(1, Buffer.from('orders')), under(2, Buffer.from('1.0'))]);
  const resource = under(1, attribute('service.name', 'shop'), attribute('project', 'alpha'));
  return under(
    1,
    Buffer.concat([
      under(1, resource),
      under(2, Buffer.concat([under(1, scope), under(2, record)])),
    ]),
  );
}
