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
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += decoder.decode(value, { stream: !done });
      const lines = rest.split('\n');
      rest = done ? '' : lines.pop()!;
      yield* lines;
      if (done) return;
    }
  } finally {
    // An answer that nobody reads any more is not sent any further.
    reader.cancel().catch(() => {});
  }
}
