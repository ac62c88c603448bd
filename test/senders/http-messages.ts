import { isUtf8 } from 'node:buffer';

/** A request or a response, as it stood on the wire; a chunked body is put together. */
export type HttpMessage = {
  readonly firstLine: string;
  /** By their names in lower case; of a name that comes twice, the last. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
};

export type HttpHead = Omit<HttpMessage, 'body'>;

/**
 * Cuts one direction of a connection into its messages (RFC 9112), however its bytes are split. It only reads
 * what well-behaved programs write, and throws at what it does not understand.
 */
export class HttpMessages {
  readonly #hasBody: (head: HttpHead) => boolean;
  #bytes = Buffer.alloc(0);

  /** `hasBody`: whether a message may have one, whatever its headers say. */
  constructor(hasBody: (head: HttpHead) => boolean) {
    this.#hasBody = hasBody;
  }

  /** The messages that end with these bytes. */
  push(bytes: Uint8Array): readonly HttpMessage[] {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    const messages: HttpMessage[] = [];
    for (let message = this.#take(); message !== undefined; message = this.#take()) {
      messages.push(message);
    }
    return messages;
  }

  #take(): HttpMessage | undefined {
    const headEnd = this.#bytes.indexOf('\r\n\r\n');
    if (headEnd < 0) return undefined;
    const head = headOf(this.#bytes.toString('latin1', 0, headEnd));
    const found = this.#hasBody(head) ? bodyAt(this.#bytes, headEnd + 4, head) : NO_BODY(headEnd);
    if (found === undefined) return undefined;
    this.#bytes = this.#bytes.subarray(found.end);
    return { ...head, body: found.body };
  }
}

type Body = { readonly body: Buffer; readonly end: number };

const NO_BODY = (headEnd: number): Body => ({ body: Buffer.alloc(0), end: headEnd + 4 });

function headOf(text: string): HttpHead {
  const [firstLine, ...lines] = text.split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { firstLine: firstLine!, headers: new Map(headers) };
}

function bodyAt(bytes: Buffer, start: number, { headers }: HttpHead): Body | undefined {
  if (headers.get('transfer-encoding') === 'chunked') return chunksAt(bytes, start);
  const end = start + Number(headers.get('content-length') ?? 0);
  return end > bytes.length ? undefined : { body: bytes.subarray(start, end), end };
}

function chunksAt(bytes: Buffer, start: number): Body | undefined {
  const chunks: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size)) throw new Error(`no chunk at byte ${at} of ${echo(bytes)}`);
    const end = lineEnd + 2 + size;
    if (end + 2 > bytes.length) return undefined;
    chunks.push(bytes.subarray(lineEnd + 2, end));
    at = end + 2;
    if (size === 0) return { body: Buffer.concat(chunks), end: at };
  }
}

function echo(bytes: Buffer): string {
  const start = bytes.subarray(0, 200);
  return isUtf8(start) ? JSON.stringify(start.toString()) : start.toString('hex');
}
