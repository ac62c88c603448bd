import { type Asked, send } from './client.ts';
import { readLines } from './line-stream.ts';

/** One of the Server-Sent Events of a stream, or a new id alone. */
type StreamEvent = {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string | undefined;
};

/** Server-Sent Events over `fetch`: `EventSource` cannot send the token in a header. */
export async function* askEvents(path: string, asked: Asked): AsyncGenerator<StreamEvent> {
  const headers = { Accept: 'text/event-stream', ...asked.headers };
  const response = await send(path, { ...asked, headers });
  let fields = new Map<string, string>();
  for await (const line of readLines(response.body!)) {
    if (line === '') {
      if (fields.size > 0) yield toEvent(fields);
      fields = new Map();
      continue;
    }
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    const before = fields.get(name);
    fields.set(name, name === 'data' && before !== undefined ? `${before}\n${value}` : value);
  }
}

function toEvent(fields: ReadonlyMap<string, string>): StreamEvent {
  return {
    id: fields.get('id'),
    event: fields.get('event') ?? 'message',
    data: fields.get('data'),
  };
}
