import type { LogEvent } from './traffic/log-event.ts';

export type DemoRow = Readonly<Record<string, unknown>>;

/** The HTTP client of the demo, which posts and calls like any other client. */
export class DemoClient {
  readonly #url: string;
  readonly #tokens: { readonly ingest: string; readonly query: string };

  constructor(url: string, tokens: { readonly ingest: string; readonly query: string }) {
    this.#url = url;
    this.#tokens = tokens;
  }

  /** Posts events of one source, and retries after a temporary refusal. */
  async post(source: string, events: readonly LogEvent[]): Promise<void> {
    const url = `${this.#url}/api/logs?source_name=${encodeURIComponent(source)}`;
    for (;;) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'X-API-KEY': this.#tokens.ingest, 'Content-Type': 'application/json' },
        body: JSON.stringify(events),
      });
      const body = await response.text();
      if (response.ok) return;
      if (response.status !== 429 && response.status !== 503) {
        throw new Error(`a post was answered ${response.status}: ${body}`);
      }
      const retryAfterS = Number(response.headers.get('retry-after') ?? 1);
      await new Promise((resolve) => setTimeout(resolve, retryAfterS * 1000));
    }
  }

  async call(path: string): Promise<readonly DemoRow[]> {
    const response = await fetch(this.#url + path, {
      headers: { 'X-API-KEY': this.#tokens.query },
    });
    const body = (await response.json()) as { readonly result?: readonly DemoRow[] };
    if (body.result === undefined) throw new Error(`a call was answered ${JSON.stringify(body)}`);
    return body.result;
  }

  /** The call as a command for a shell. */
  curlLine(path: string): string {
    return `curl -s -H 'X-API-KEY: ${this.#tokens.query}' '${this.#url}${path}'`;
  }
}
