/** One event of a stream of Server-Sent Events. */
export type StreamEvent = {
  readonly event: string;
  /** `undefined` where the stream told an id, or a time, and nothing else. */
  readonly data: string | undefined;
  /** The last id that was told. */
  readonly id: string | undefined;
  /** Milliseconds after which to come again, where the stream says it. */
  readonly retryMs: number | undefined;
};

/** Reads a stream as the standard of HTML says (§9.2.6), of pieces of its text. */
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
