import type { HttpClient } from './http-client.ts';

/** What a source holds: events that queries see, and their bytes when all are in memory. */
export type SourceSize = { readonly events: number; readonly bytes: number };

/** What the service says that a source holds. */
export async function readSource(client: HttpClient, source: string): Promise<SourceSize> {
  const answer = JSON.parse(await mustGet(client, '/api/sources')) as {
    readonly result: readonly ({ readonly name: string } & SourceSize)[];
  };
  return answer.result.find(({ name }) => name === source) ?? { events: 0, bytes: 0 };
}

/** The numbers of `/metrics`, each under its name and, in the order it has them, its labels. */
export async function readMetrics(client: HttpClient): Promise<ReadonlyMap<string, number>> {
  const lines = (await mustGet(client, '/metrics')).split('\n');
  const metrics = new Map<string, number>();
  for (const line of lines) {
    const [, name, value] = /^([a-z0-9_]+(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
    if (name !== undefined) metrics.set(name, Number(value));
  }
  return metrics;
}

/** The text of an answer. @throws Error when it is not a 200. */
export async function mustGet(client: HttpClient, path: string): Promise<string> {
  const answer = await client.get(path);
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body}`);
  return answer.body.toString();
}
