import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { LogEntry } from '../../../src/log.ts';
import { type Service, startService } from '../../../src/service.ts';
import { parseSettings } from '../../../src/settings.ts';
import { openBackend } from '../../../src/store/log-backend.ts';
import { type Answer, type Ask, ask, NOW_US, PRIVATE, PUBLIC, post } from '../harness.ts';

type RunOptions = {
  readonly files?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
};

type StartOptions = {
  readonly isStrict?: boolean;
  /** Settings that override those of the first start. */
  readonly environment?: Readonly<Record<string, string>>;
};

/** The whole service on a data folder and a folder of definitions. It can be restarted. */
export class ServiceWithDefinitions {
  readonly dataDir: string;
  /** The store folder of the last start. */
  storePath = '';
  readonly endpointsDir: string;
  readonly entries: LogEntry[] = [];
  readonly #environment: Readonly<Record<string, string>>;
  #service: Service | undefined;
  #writeCount = 0;

  private constructor(folder: string, environment: Readonly<Record<string, string>>) {
    this.dataDir = join(folder, 'data');
    this.endpointsDir = join(folder, 'endpoints');
    this.#environment = environment;
  }

  /** Calls `work` with a service that has these files in its folder of definitions. */
  static async run(
    options: RunOptions,
    work: (service: ServiceWithDefinitions) => Promise<void>,
  ): Promise<void> {
    const run = await ServiceWithDefinitions.begin(options);
    try {
      await work(run);
    } finally {
      await run.end();
    }
  }

  /** Starts such a service, which runs until `end`. */
  static async begin(options: RunOptions): Promise<ServiceWithDefinitions> {
    const folder = await mkdtemp(join(tmpdir(), 'weir-'));
    const run = new ServiceWithDefinitions(folder, options.environment ?? {});
    await mkdir(run.endpointsDir);
    for (const [name, text] of Object.entries(options.files ?? {})) await run.write(name, text);
    await run.start();
    return run;
  }

  async end(): Promise<void> {
    await this.stop();
    await rm(dirname(this.dataDir), { recursive: true });
  }

  /** Removes definitions made over HTTP. */
  async clear(): Promise<void> {
    // Definitions that others select from can only be removed after these.
    for (let isLeft = true; isLeft; ) {
      isLeft = false;
      const { json } = await this.ask({ path: '/api/endpoints' });
      for (const { id, origin } of json.result) {
        if (origin !== 'api') continue;
        isLeft = true;
        await this.send('DELETE', id, undefined, { 'If-Match': '*' });
      }
    }
    this.entries.length = 0;
  }

  get service(): Service {
    if (this.#service === undefined) throw new Error('the service runs');
    return this.#service;
  }

  async start({ environment, ...options }: StartOptions = {}): Promise<void> {
    const settings = parseSettings({
      PORT: '0',
      DATA_DIR: this.dataDir,
      ENDPOINTS_DIR: this.endpointsDir,
      PRIVATE_ACCESS_TOKEN: PRIVATE,
      PUBLIC_ACCESS_TOKEN: PUBLIC,
      WORKERS: '1',
      ...this.#environment,
      ...environment,
    });
    const log = (entry: LogEntry): void => void this.entries.push(entry);
    const clock = { nowUs: () => NOW_US, wallMs: () => NOW_US / 1000, monotonicMs: () => 0 };
    this.#service = await startService({
      ...{ settings, clock, log, ...options },
      openBackend: (stored) => {
        this.storePath = stored.dataDir;
        return openBackend({ settings: stored, log });
      },
    });
  }

  async stop(): Promise<void> {
    await this.#service?.stop();
    this.#service = undefined;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Writes a file of the folder of definitions; its time is that of no other write, as if some time had passed between. */
  async write(name: string, text: string): Promise<void> {
    const path = join(this.endpointsDir, name);
    await writeFile(path, text);
    this.#writeCount += 1;
    await utimes(path, this.#writeCount, this.#writeCount);
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.endpointsDir, name));
  }

  /** Makes the service scan the folder now. */
  reload(): Promise<void> {
    return this.service.definitions.reload();
  }

  ask(what: Ask): Promise<Answer> {
    return ask(this.#app(), what);
  }

  /** Sends `METHOD /api/endpoints/ID` with a body of JSON, or of SQL for a string. */
  send(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    id: string,
    body?: object | string,
    headers: Ask['headers'] = {},
  ): Promise<Answer> {
    const type = typeof body === 'string' ? 'application/sql' : 'application/json';
    return this.ask({
      method,
      path: id === '' ? '/api/endpoints' : `/api/endpoints/${id}`,
      headers: { ...(body === undefined ? {} : { 'Content-Type': type }), ...headers },
      body: typeof body === 'object' ? JSON.stringify(body) : body,
    });
  }

  /** The rows of a call, or its failure. */
  async call(name: string, query = ''): Promise<unknown> {
    const { json } = await this.ask({ path: `/api/endpoints/query/${name}${query}` });
    return json.result ?? json.error;
  }

  async post(source: string, events: readonly object[]): Promise<void> {
    const { status, text } = await post(this.#app(), `/api/logs?source_name=${source}`, events);
    if (status !== 200) throw new Error(`POST: ${status} ${text}`);
  }

  /** Names of all definitions except the built-in ones. */
  async names(): Promise<readonly string[]> {
    const { json } = await this.ask({ path: '/api/endpoints' });
    const own = json.result.filter(({ origin }: { origin: string }) => origin !== 'built-in');
    return own.map(({ name }: { name: string }) => name);
  }

  async problems(): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { json } = await this.ask({ path: '/api/endpoints' });
    return json.problems;
  }

  #app(): { readonly port: number } {
    return { port: Number(new URL(this.service.url).port) };
  }
}

/** An id that ends in a digit. */
export function idOf(digit: number): string {
  return `22222222-2222-4333-8444-55555555555${digit}`;
}

/** The file of a definition with the id that ends in a digit. */
export function fileOf(digit: number, name: string, sql: string, ...lines: string[]): string {
  const header = [`id: ${idOf(digit)}`, `name: ${name}`, ...lines].map((line) => `-- ${line}\n`);
  return `${header.join('')}\n${sql}\n`;
}
