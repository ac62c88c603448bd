import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceProcess } from '../../bench/service-process.ts';
import { must } from '../../engine/assert.ts';
import { lastingPort } from '../support/lasting-port.ts';
import { programWords } from '../support/program-words.ts';
import { GrpcTap } from './grpc-tap.ts';
import { HttpTap } from './http-tap.ts';
import type { Row, RunningSender, Sender } from './sender.ts';
import type { Tap } from './tap.ts';

/** A sender that has hung is told so. */
const TIME_MS_MAX = 5 * 60_000;

/** What runs the service. */
const COMMAND = programWords('src/main.ts');

const INGEST_TOKEN = 'a-token-that-may-post-and-no-more';
const SOURCE = 'app.logs';
const PROJECT = 'alpha';

const DEFINITION = `-- id: 5b5c5fd0-8a53-4c52-9a54-0f3b8e4c7a01
-- name: sent.events
-- description: All that a sender has sent
-- max_rows: 100000

SELECT t.id, t.timestamp, t.event_message, t.project, t.metadata FROM \`${SOURCE}\` AS t
ORDER BY t.timestamp
`;

/** The service in a process of its own that can end and start again, and one sender that posts to it. */
export class PostedService {
  readonly tap: Tap;
  readonly #folder: string;
  readonly #ports: Ports;
  readonly #settings: Settings;
  #service: ServiceProcess;
  #sender: RunningSender | undefined;

  private constructor(parts: {
    readonly tap: Tap;
    readonly folder: string;
    readonly service: ServiceProcess;
    readonly ports: Ports;
    readonly settings: Settings;
  }) {
    this.tap = parts.tap;
    this.#folder = parts.folder;
    this.#service = parts.service;
    this.#ports = parts.ports;
    this.#settings = parts.settings;
  }

  /** Runs `work` against a service on an empty folder. */
  static async use(sender: Sender, work: (posted: PostedService) => Promise<void>): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'weir-sender-'));
    await mkdir(join(folder, 'definitions'));
    await mkdir(join(folder, 'sender'));
    await writeFile(join(folder, 'definitions', 'sent.events.sql'), DEFINITION);
    const { settings = {} } = sender;
    const ports = { http: await lastingPort(), grpc: await lastingPort() };
    const service = await startService(folder, ports, settings);
    const deadline = AbortSignal.timeout(TIME_MS_MAX);
    const tap =
      sender.speaks === 'grpc'
        ? await GrpcTap.open(ports.grpc, deadline)
        : await HttpTap.open(ports.http, deadline);
    const posted = new PostedService({ tap, folder, service, ports, settings });
    try {
      posted.#sender = await sender.start({
        port: tap.port,
        token: INGEST_TOKEN,
        source: SOURCE,
        project: PROJECT,
        folder: join(folder, 'sender'),
      });
      await work(posted);
    } catch (cause) {
      throw new Error(posted.#said(sender), { cause });
    } finally {
      await posted.#sender?.stop();
      await tap.close();
      await posted.#service.kill();
      await rm(folder, { recursive: true, force: true });
    }
  }

  get sender(): RunningSender {
    return must(this.#sender);
  }

  /** The service ends; nobody listens any more. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await (signal === 'SIGTERM' ? this.#service.stop() : this.#service.kill());
    await this.tap.close();
  }

  /** The service is there again, on the same folder and ports. */
  async startAgain(): Promise<void> {
    this.#service = await startService(this.#folder, this.#ports, this.#settings);
    await this.tap.open();
  }

  /** What sender and service have said, for whoever looks into a failure. */
  #said({ name }: Sender): string {
    const { exchanges } = this.tap;
    const answers = exchanges.slice(-20).map(({ path, status }) => `${path} ${status}`);
    const last = exchanges.at(-1)?.responseBody.toString() ?? '';
    return [name, ...answers, last, this.#sender?.terminal()].join('\n');
  }

  /** All events that are stored, as a query tells them. */
  async rows(): Promise<readonly Row[]> {
    const { url, token } = this.#service;
    const response = await fetch(`${url}/api/endpoints/sent.events`, {
      headers: { 'X-API-KEY': token },
    });
    const text = await response.text();
    assert.equal(response.status, 200, text.slice(0, 1_000));
    return (JSON.parse(text) as { readonly result: readonly Row[] }).result;
  }
}

/** Of the service, the same at each start. */
type Ports = { readonly http: number; readonly grpc: number };

type Settings = Readonly<Record<string, string>>;

function startService(
  folder: string,
  { http, grpc }: Ports,
  moreSettings: Settings,
): Promise<ServiceProcess> {
  const settings = {
    PORT: String(http),
    OTLP_GRPC_PORT: String(grpc),
    SOURCES: SOURCE,
    PUBLIC_ACCESS_TOKEN: INGEST_TOKEN,
    ENDPOINTS_DIR: join(folder, 'definitions'),
    WORKERS: '1',
    ...moreSettings,
  };
  return ServiceProcess.start(COMMAND, settings, join(folder, 'data'));
}
