import { type Asked, send } from './client.ts';

/** The objects of an answer in lines of JSON, each as soon as it is there. */
export async function* askLines<T>(path: string, asked: Asked): AsyncGenerator<T> {
  const response = await send(path, asked);
  for await (const line of readLines(response.body!)) {
    if (line !== '') yield JSON.parse(line) as T;
  }
}

/** The lines of an answer as they come. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  // Of the line whose end has not come: joined once, for a line may have megabytes.
  let parts: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const [first, ...others] = decoder.decode(value, { stream: !done }).split('\n');
      parts.push(first!);
      for (const other of others) {
        yield parts.join('');
        parts = [other];
      }
      if (!done) continue;
      yield parts.join('');
      return;
    }
  } finally {
    // An answer that nobody reads any more is not sent any further.
    reader.cancel().catch(() => {});
  }
}
