/** One event of a stream of Server-Sent Events. */
export type StreamEvent = {
  readonly event: string;
  /** `undefined` if the stream sent only an id or a time. */
  readonly data: string | undefined;
  /** The last id sent. */
  readonly id: string | undefined;
  /** Milliseconds until reconnection, if the stream gives them. */
  readonly retryMs: number | undefined;
};

/** Parses a stream of Server-Sent Events (HTML standard, §9.2.6) from pieces of text. */
export async function* readEvents(pieces: AsyncIterable<string>): AsyncGenerator<StreamEvent> {
  let rest = '';
  let id: string | undefined;
  for await (const piece of pieces) {
    const blocks = (rest + piece).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const read = readBlock(block);
      id = read.id ?? id;
      yield { ...read, id };
    }
  }
}

function readBlock(block: string): StreamEvent {
  let event = 'message';
  let id: string | undefined;
  let retryMs: number | undefined;
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
    else if (field === 'id') id = value;
    else if (field === 'retry' && /^\d+$/.test(value)) retryMs = Number(value);
  }
  return { event, data: data.length === 0 ? undefined : data.join('\n'), id, retryMs };
}
