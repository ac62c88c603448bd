import { createConnection, type Socket } from 'node:net';
import type { RandomRequest } from './random-request.ts';

/** What came back on a connection of one request. */
export type RawAnswer = {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  /** How long it was until the connection ended; zero unless given. */
  readonly ms?: number;
};

/** What begins an answer that only says that the body may come. */
const CONTINUE = 'HTTP/1.1 100 ';

/** The head of an answer that never ends. */
const STREAM = /^content-type: text\/event-stream/im;

/**
 * Sends a request on a connection of its own, as it is written. `undefined` when the connection ends
 * without a whole answer.
 */
export async function exchange(
  port: number,
  request: RandomRequest,
): Promise<RawAnswer | undefined> {
  const startMs = performance.now();
  const socket = createConnection({ port, host: '127.0.0.1' });
  // Refused requests may be cut off while they are written.
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => {});
  const chunks: Buffer[] = [];
  // It leaves in one piece, behind one that says that the body may come.
  let isHeadNext = true;
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    if (!isHeadNext) return;
    const text = chunk.toString('latin1');
    isHeadNext = text.startsWith(CONTINUE) && text.endsWith('\r\n\r\n');
    // What never ends is looked at for a moment, and left.
    if (STREAM.test(text)) setTimeout(() => socket.destroy(), 20);
  });
  await send(socket, request);
  await closed;
  const answer = parseAnswer(Buffer.concat(chunks), request.method === 'HEAD');
  return answer && { ...answer, ms: performance.now() - startMs };
}

async function send(socket: Socket, request: RandomRequest): Promise<void> {
  const { body, delivery } = request;
  const head = Buffer.from(headOf(request), 'latin1');
  const bytes = body ?? Buffer.alloc(0);
  switch (delivery) {
    case 'whole':
      socket.write(Buffer.concat([head, bytes]));
      return;
    case 'in pieces':
      for (const piece of [head.subarray(0, 10), head.subarray(10), bytes]) {
        if (piece.length === 0 || socket.destroyed) continue;
        if (!socket.write(piece)) await roomToWrite(socket);
        await new Promise(setImmediate);
      }
      return;
    case 'chunked':
      socket.write(Buffer.concat([head, chunkOf(bytes), Buffer.from('0\r\n\r\n')]));
      return;
    case 'cut off':
      socket.end(Buffer.concat([head, bytes]).subarray(0, head.length + bytes.length / 2));
      return;
    case 'in broken chunks':
      socket.end(Buffer.concat([head, chunkOf(bytes), Buffer.from('zz\r\n')]));
  }
}

/** Resolves when more may be written, or never can be. */
function roomToWrite(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('drain', resolve).once('close', resolve);
  });
}

function chunkOf(bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes;
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ]);
}

/** The request line and the headers, as latin1. */
export function headOf(request: RandomRequest): string {
  const { method, path, query, headers, body, delivery, version } = request;
  const search = query.map(([name, text]) => `${escaped(name)}=${escaped(text)}`).join('&');
  const isChunked = delivery === 'chunked' || delivery === 'in broken chunks';
  const length: [string, string][] = isChunked
    ? [['Transfer-Encoding', 'chunked']]
    : body === undefined
      ? []
      : [['Content-Length', String(body.length)]];
  const lines = [['Host', 'localhost'], ['Connection', 'close'], ...length, ...headers];
  return [
    `${method} ${path}${search === '' ? '' : `?${search}`} ${version}`,
    ...lines.map(([name, text]) => `${name}: ${text}`),
    '\r\n',
  ].join('\r\n');
}

/** As a URL has it; what is escaped already, rightly or wrongly, stays. */
function escaped(text: string): string {
  if (/^%/.test(text)) return text;
  return encodeURIComponent(text.replaceAll(/[\ud800-\udfff]/g, '?'));
}

/** The last answer of the connection: one may say first that the body may come. */
function parseAnswer(bytes: Buffer, isHead: boolean): RawAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [line = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1]);
  const rest = bytes.subarray(end + 4);
  if (status === 100) return parseAnswer(rest, isHead);
  const headers = new Map(
    lines.map((header): [string, string] => {
      const colon = header.indexOf(':');
      return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()];
    }),
  );
  const length = headers.get('content-length');
  if (!isHead && length !== undefined && rest.length < Number(length)) return undefined;
  const isChunked = headers.get('transfer-encoding') === 'chunked';
  const body = isHead ? Buffer.alloc(0) : isChunked ? joinChunks(rest) : rest;
  return { status, headers, text: body.toString() };
}

function joinChunks(bytes: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.subarray(at, end).toString(), 16);
    if (end === -1 || !(size > 0)) break;
    pieces.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 4 + size;
  }
  return Buffer.concat(pieces);
}
