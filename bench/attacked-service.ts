import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { BESIDE_BYTES } from '../src/memory-shares.ts';
import { HttpClient } from './http-client.ts';
import type { MemoryGroup } from './memory-group.ts';
import { ServiceProcess } from './service-process.ts';
import {
  ATTACKED_DEFINITION,
  ATTACKED_NOW,
  askWithoutReading,
  followWithoutReading,
  LARGE_ANSWER_SQL,
  postAttackedRows,
  type QueryAttack,
  sendQuery,
  USUAL_QUERIES,
} from './workload/memory-attacks.ts';

const MEBIBYTE = 1024 * 1024;

/** How often each attack is run at the same time. */
const AT_ONCE = 4;

/** What came of an attack. */
export type AttackReport = {
  readonly name: string;
  /** The most resident memory since the last report, in bytes. */
  readonly peakBytes: number;
  /** … that there may be. */
  readonly peakBytesMax: number;
  /** What callers got: statuses, or codes of failures. */
  readonly outcomes: readonly string[];
};

/** A service in a process of its own whose callers want as much memory as they can get. */
export class AttackedService {
  readonly #service: ServiceProcess;
  readonly #client: HttpClient;
  readonly #folder: string;
  readonly #peakBytesMax: number;

  private constructor(service: ServiceProcess, folder: string, limitBytes: number) {
    this.#service = service;
    this.#folder = folder;
    this.#client = new HttpClient(service.url, service.token, AT_ONCE);
    this.#peakBytesMax = limitBytes + BESIDE_BYTES;
  }

  /** `command`: as for a ServiceProcess. `group`: where it runs, unless it is the group of this process. */
  static async start(
    command: readonly string[],
    { limitMib, group }: { readonly limitMib: number; readonly group?: MemoryGroup },
  ): Promise<AttackedService> {
    const folder = mkdtempSync(join(tmpdir(), 'weir-attacks-'));
    const definitions = join(folder, 'definitions');
    mkdirSync(definitions);
    writeFileSync(join(definitions, 'attacked.sql'), ATTACKED_DEFINITION);
    const environment = {
      FROZEN_NOW: ATTACKED_NOW,
      ENDPOINTS_DIR: definitions,
      MEMORY_LIMIT: `${limitMib}MiB`,
    };
    const data = join(folder, 'data');
    const service = await ServiceProcess.start(command, environment, data, group?.nodeWords);
    return new AttackedService(service, folder, limitMib * MEBIBYTE);
  }

  async takeIn(eventCount: number): Promise<AttackReport> {
    await postAttackedRows(this.#client, eventCount);
    return this.#report(`taking in ${eventCount} events`, []);
  }

  /** Once alone, and several times at the same time. */
  async attack({ name, sql }: QueryAttack): Promise<AttackReport> {
    const alone = await this.#outcomeOf(sql);
    const atOnce = Array.from({ length: AT_ONCE }, () => this.#outcomeOf(sql));
    return this.#report(name, [alone, ...(await Promise.all(atOnce))]);
  }

  /** So many callers ask for long answers and read nothing for some time. */
  async askWithoutReading(count: number, ms: number): Promise<AttackReport> {
    const held = await askWithoutReading(
      this.#service,
      Array<string>(count).fill(LARGE_ANSWER_SQL),
    );
    await wait(ms);
    held.close();
    return this.#report(`${count} long answers that nobody reads`, held.statuses.map(String));
  }

  async followWithoutReading(count: number, ms: number): Promise<AttackReport> {
    const held = await followWithoutReading(this.#service, count);
    await wait(ms);
    held.close();
    return this.#report(`${count} followers that read nothing`, held.statuses.map(String));
  }

  /** What a page of logs asks for. */
  async askAsUsual(): Promise<AttackReport> {
    const outcomes: string[] = [];
    for (const sql of USUAL_QUERIES) outcomes.push(await this.#outcomeOf(sql));
    return this.#report('usual queries', outcomes);
  }

  async stop(): Promise<void> {
    this.#client.close();
    await this.#service.stop();
    rmSync(this.#folder, { recursive: true });
  }

  async #outcomeOf(sql: string): Promise<string> {
    const { status, code } = await sendQuery(this.#client, sql);
    return code ?? String(status);
  }

  #report(name: string, outcomes: readonly string[]): AttackReport {
    const peakBytes = this.#service.takePeakBytes();
    return { name, peakBytes, peakBytesMax: this.#peakBytesMax, outcomes };
  }
}
