import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { forkProgram } from '../../test/support/program-words.ts';
import type { PeerResult } from './engine-result.ts';
import type { PeerOrder, PeerTexts, PeerTextTimes } from './peer-order.ts';
import type { LargeSize } from './sizes.ts';

/** Engines with the same rows, by their names in `PEERS`. */
export const LARGE_PEERS = ['sqlite', 'duckdb', 'clickhouse'] as const;

export type LargePeer = (typeof LARGE_PEERS)[number];

/** A peer whose data is kept in a folder, each stage in a process of its own. */
export class PeerStages {
  readonly #name: LargePeer;
  readonly #folder: string;
  readonly #size: LargeSize;

  constructor(name: LargePeer, of: { readonly folder: string; readonly size: LargeSize }) {
    this.#name = name;
    this.#folder = of.folder;
    this.#size = of.size;
  }

  get dataDir(): string {
    return join(this.#folder, this.#name);
  }

  /** The sentence why it cannot be measured on this machine, if so. */
  async hindrance(): Promise<string | undefined> {
    try {
      await this.#run('version');
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Loads the peer with all events, once. */
  async load(): Promise<void> {
    const path = `${this.dataDir}-made`;
    if (existsSync(path)) return;
    rmSync(this.dataDir, { recursive: true, force: true });
    await this.#run('load');
    writeFileSync(path, '');
  }

  /** What it answers; a sentence where it has too little memory for that. @throws Error when it fails otherwise. */
  async findAnswers(): Promise<PeerResult | string> {
    try {
      return (await this.#run('ask')) as PeerResult;
    } catch (error) {
      const { message } = error as Error;
      if (/memory/i.test(message)) return message;
      throw error;
    }
  }

  /** Asks each text twice, those to warm up first. */
  async askTexts(texts: PeerTexts): Promise<PeerTextTimes> {
    return (await this.#run('ask texts', texts)) as PeerTextTimes;
  }

  #run(task: PeerOrder['task'], texts?: PeerTexts): Promise<unknown> {
    const child = forkProgram('bench/large/peer-process.ts', {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', process.stderr.isTTY ? 'inherit' : 'pipe', 'ipc'],
    });
    const order: PeerOrder = {
      ...{ task, name: this.#name, folder: this.dataDir, size: this.#size },
      ...(texts === undefined ? {} : { texts }),
    };
    let said = '';
    child.stderr?.on('data', (part: Buffer) => {
      said = `${said}${part}`.slice(-2_000);
    });
    return new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('error', reject);
      child.once('exit', (code) => {
        const reason = said.match(/^\w*Error: .*$/gm)?.at(-1) ?? said;
        reject(new Error(`${this.#name} ended with ${code}: ${reason}`));
      });
      child.send(order);
    });
  }
}
