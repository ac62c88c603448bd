import type { Random } from '../../src/demo/traffic/random.ts';
import { BytesClient } from '../bytes-client.ts';
import { LargeRandom } from './large-random.ts';
import { LargeProjects } from './projects.ts';

/** One call in so many brings SQL of its own. */
const SQL_EVERY = 13;

const SQL = 'SELECT status_code, COUNT(*) AS requests FROM entries GROUP BY status_code';

const SEED = 384;

/** The definition that such calls are of, and the name of its file. */
export const SANDBOX = {
  file: 'entries.sql',
  text: `-- id: 1f0a6c0e-58c2-4a7e-9f3d-2b7f0c9d1a11
-- name: bench.entries
-- description: Requests of one project within the last hour, for SQL of callers
-- max_rows: 1000
-- sandbox: enabled
-- param: project string required
WITH entries AS (
  SELECT t.id, t.timestamp, r.method, r.path, a.status_code
  FROM \`cloudflare.logs.prod\` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  CROSS JOIN UNNEST(m.request) AS r
  CROSS JOIN UNNEST(m.response) AS a
  WHERE t.project = @project
    AND t.timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR)
)
SELECT id FROM entries LIMIT 1
`,
} as const;

/** The name of calls that bring SQL of their own. */
export const OWN_SQL = 'SQL of callers';

/** One call that was answered with 200. */
export type ReaderSample = {
  /** The definition and what its window depends on. */
  readonly query: string;
  /** Milliseconds until its answer was there. */
  readonly ms: number;
  /** The service's own account of it: the `Server-Timing` header. */
  readonly timing: string;
};

/** Calls since samples were last taken. */
export type ReaderSamples = {
  readonly answered: readonly ReaderSample[];
  /** Calls answered with anything but 200. */
  readonly failedCount: number;
};

type ReaderCall = Pick<ReaderSample, 'query'> & { readonly path: string };

/** Readers that ask one call after another, of projects by their share. */
export class Readers {
  readonly #url: string;
  readonly #token: string;
  readonly #projects = new LargeProjects(0);
  readonly #running: Promise<unknown>;
  #isStopped = false;
  #answered: ReaderSample[] = [];
  #failedCount = 0;

  constructor(of: { readonly url: string; readonly token: string; readonly count: number }) {
    this.#url = of.url;
    this.#token = of.token;
    this.#running = Promise.all(
      Array.from({ length: of.count }, (_, reader) => this.#read(reader)),
    );
    // A failure is thrown by `stop`.
    this.#running.catch(() => {});
  }

  takeSamples(): ReaderSamples {
    const samples = { answered: this.#answered, failedCount: this.#failedCount };
    this.#answered = [];
    this.#failedCount = 0;
    return samples;
  }

  /** Resolves when the last call is answered. @throws Error when a connection has failed. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #read(reader: number): Promise<void> {
    const random = new LargeRandom(SEED + reader);
    let client = await BytesClient.connect(this.#url, this.#token);
    for (let call = 0; !this.#isStopped; call++) {
      if (!client.isOpen) client = await BytesClient.connect(this.#url, this.#token);
      const isSql = call % SQL_EVERY === SQL_EVERY - 1;
      const project = this.#projects.draw(random).ref;
      const { query, path } = isSql ? sqlCall(project) : savedCall(random, project);
      const fromMs = performance.now();
      const { status, head } = await client.send(client.requestFor(`/api/endpoints/${path}`));
      const ms = performance.now() - fromMs;
      const timing = /^server-timing: (.*)$/im.exec(head)?.[1] ?? '';
      if (status !== 200) this.#failedCount += 1;
      else this.#answered.push({ query, ms, timing });
    }
    client.close();
  }
}

function sqlCall(project: string): ReaderCall {
  return {
    query: OWN_SQL,
    path: `bench.entries?${new URLSearchParams({ project, sql: SQL })}`,
  };
}

/** One of the three saved queries. */
export function savedCall(random: Random, project: string): ReaderCall {
  switch (random.below(3)) {
    case 0:
      return { query: 'logs.all', path: `logs.all?project=${project}&project_tier=PRO` };
    case 1: {
      const interval = random.pick(['5min', '15min', '1hr', '1day', '7day']);
      return windowCall('functions.invocation-stats', project, interval);
    }
    default: {
      const interval = random.pick(['minutely', 'hourly', 'daily']);
      return windowCall('usage.api-counts', project, interval);
    }
  }
}

function windowCall(name: string, project: string, interval: string): ReaderCall {
  return {
    query: `${name} ${interval}`,
    path: `${name}?project=${project}&interval=${interval}`,
  };
}
