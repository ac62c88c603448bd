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

/** Calls since samples were last taken. */
export type ReaderSamples = {
  /** Milliseconds of the answered calls of saved queries. */
  readonly savedMs: readonly number[];
  /** Milliseconds of the answered calls with SQL of their own. */
  readonly sqlMs: readonly number[];
  /** Calls answered with anything but 200. */
  readonly failedCount: number;
};

/** Readers that ask one call after another, of projects by their share. */
export class Readers {
  readonly #url: string;
  readonly #token: string;
  readonly #projects = new LargeProjects(0);
  readonly #running: Promise<unknown>;
  #isStopped = false;
  #savedMs: number[] = [];
  #sqlMs: number[] = [];
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
    const samples = {
      ...{ savedMs: this.#savedMs, sqlMs: this.#sqlMs, failedCount: this.#failedCount },
    };
    this.#savedMs = [];
    this.#sqlMs = [];
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
      const path = isSql ? sqlPath(project) : savedPath(random, project);
      const fromMs = performance.now();
      const { status } = await client.send(client.requestFor(`/api/endpoints/${path}`));
      const ms = performance.now() - fromMs;
      if (status !== 200) this.#failedCount += 1;
      else (isSql ? this.#sqlMs : this.#savedMs).push(ms);
    }
    client.close();
  }
}

function sqlPath(project: string): string {
  return `bench.entries?${new URLSearchParams({ project, sql: SQL })}`;
}

/** One of the three saved queries. */
function savedPath(random: Random, project: string): string {
  switch (random.below(3)) {
    case 0:
      return `logs.all?project=${project}&project_tier=PRO`;
    case 1: {
      const interval = random.pick(['5min', '15min', '1hr', '1day', '7day']);
      return `functions.invocation-stats?project=${project}&interval=${interval}`;
    }
    default: {
      const interval = random.pick(['minutely', 'hourly', 'daily']);
      return `usage.api-counts?project=${project}&interval=${interval}`;
    }
  }
}
