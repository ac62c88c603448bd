import { type Asked, send } from './client.ts';

/** Bytes that are decoded at once: an answer may come in pieces of megabytes. */
const DECODED_BYTES = 131_072;

/** Milliseconds after which a reader lets the page draw, and react to input. */
const TASK_MS_MAX = 10;

/** The objects of an answer in lines of JSON, each as soon as it is there. */
export async function* askLines<T>(path: string, asked: Asked): AsyncGenerator<T> {
  const response = await send(path, asked);
  for await (const line of readLines(response.body!)) {
    if (line !== '') yield JSON.parse(line) as T;
  }
}

/** The lines of an answer as they come. What has come at once is read in several tasks of the page if it takes long. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  // Of the line whose end has not come: joined once, for a line may have megabytes.
  let parts: string[] = [];
  let taskMs = performance.now();
  const rest = async (): Promise<void> => {
    if (performance.now() - taskMs <= TASK_MS_MAX) return;
    await beginTask();
    taskMs = performance.now();
  };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      for (const bytes of cutBytes(value)) {
        const [first, ...others] = decoder.decode(bytes, { stream: true }).split('\n');
        parts.push(first!);
        for (const other of others) {
          yield parts.join('');
          parts = [other];
          await rest();
        }
        await rest();
      }
      if (!done) continue;
      yield parts.join('') + decoder.decode();
      return;
    }
  } finally {
    // An answer that nobody reads any more is not sent any further.
    reader.cancel().catch(() => {});
  }
}

function* cutBytes(bytes: Uint8Array = new Uint8Array()): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += DECODED_BYTES) {
    yield bytes.subarray(start, start + DECODED_BYTES);
  }
}

/** Goes on in a task of its own. Unlike a timer, a message is not held back where nobody sees the page. */
function beginTask(): Promise<void> {
  return new Promise((begin) => {
    const { port1, port2 } = new MessageChannel();
    const hear = (): void => {
      port1.close();
      begin();
    };
    port1.addEventListener('message', hear);
    port1.start();
    port2.postMessage(null);
  });
}
