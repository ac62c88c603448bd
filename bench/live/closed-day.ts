import { BytesClient } from '../bytes-client.ts';
import { HttpClient } from '../http-client.ts';
import { LARGE_KINDS, type LargeKind } from '../large/large-events.ts';
import { LargeRandom } from '../large/large-random.ts';
import { LargeProjects } from '../large/projects.ts';
import { hashOf } from '../measure.ts';
import { postAll } from '../posting.ts';
import { sourceOf } from '../workload/workload.ts';

const DAY_MS = 86_400_000;

/** Senders of late events do not reach so far back. */
const DAYS_AGO = 3;

const KINDS: readonly LargeKind[] = ['full', 'invocations'];
const POST_EVENTS = 250;
const CONNECTIONS = 4;
const SEED = 387;
const ROWS = 100;

/** A day before the run that gets no more events: the same ones in every run, so that answers over it are, too. */
export class ClosedDay {
  readonly #url: string;
  readonly #token: string;
  readonly #projects = new LargeProjects(0);
  readonly #startMs: number;

  constructor(of: { readonly url: string; readonly token: string; readonly nowMs: number }) {
    this.#url = of.url;
    this.#token = of.token;
    this.#startMs = Math.floor(of.nowMs / DAY_MS - DAYS_AGO) * DAY_MS;
  }

  /** Posts so many events of each kind, with even times. */
  async fill(eventCount: number): Promise<void> {
    const client = new HttpClient(this.#url, this.#token, CONNECTIONS);
    for (const kind of KINDS) {
      const { make } = LARGE_KINDS.get(kind)!;
      const random = new LargeRandom(SEED);
      let event = 0;
      const next = (): string => {
        const timestampUs =
          1000 * this.#startMs + Math.floor((1000 * DAY_MS * event++) / eventCount);
        return make(random, this.#projects.draw(random), timestampUs);
      };
      const path = `/api/logs?source_name=${encodeURIComponent(sourceOf(kind))}`;
      await postAll(client, { path, connectionCount: CONNECTIONS }, () => {
        const count = Math.min(POST_EVENTS, eventCount - event);
        return count > 0 ? Buffer.from(`[${Array.from({ length: count }, next)}]`) : undefined;
      });
    }
    client.close();
  }

  /** A hash of what a saved query, and other SQL, says about that day. */
  async hash(): Promise<string> {
    const [start, end] = [this.#startMs, this.#startMs + DAY_MS].map((ms) =>
      new Date(ms).toISOString(),
    );
    const within = `t.timestamp >= '${start}' AND t.timestamp < '${end}'`;
    const client = await BytesClient.connect(this.#url, this.#token);
    const answers: unknown[] = [];
    for (const sql of [
      `SELECT t.project, COUNT(*) AS n, SUM(r.origin_time) AS total,
        MAX(UNIX_MICROS(t.timestamp) - ${1000 * this.#startMs}) AS newest
      FROM \`${sourceOf('full')}\` AS t CROSS JOIN UNNEST(t.metadata) AS m
      CROSS JOIN UNNEST(m.response) AS r WHERE ${within}
      GROUP BY t.project ORDER BY n DESC, t.project LIMIT ${ROWS}`,
      `SELECT m.function_id, COUNT(*) AS n, MIN(m.execution_time_ms) AS least,
        AVG(m.execution_time_ms) AS mean, MAX(m.execution_time_ms) AS most
      FROM \`${sourceOf('invocations')}\` AS t CROSS JOIN UNNEST(t.metadata) AS m WHERE ${within}
      GROUP BY m.function_id ORDER BY n DESC, m.function_id LIMIT ${ROWS}`,
    ]) {
      const body = Buffer.from(JSON.stringify({ sql }));
      answers.push(resultOf(await client.ask(client.postFor('/api/query', body))));
    }
    for (const { ref: project } of this.#projects.ranked.slice(0, ROWS)) {
      const parameters = {
        project,
        project_tier: 'PRO',
        iso_timestamp_start: start!,
        iso_timestamp_end: end!,
      };
      const path = `/api/endpoints/logs.all?${new URLSearchParams(parameters)}`;
      // Times in the metadata are those of the run.
      const rows = resultOf(await client.ask(client.requestFor(path)));
      answers.push(rows.map(({ id, event_message: message }) => [id, message]));
    }
    client.close();
    return hashOf(JSON.stringify(answers));
  }
}

function resultOf(body: Buffer): readonly Readonly<Record<string, unknown>>[] {
  return (JSON.parse(body.toString()) as { result: readonly Readonly<Record<string, unknown>>[] })
    .result;
}
