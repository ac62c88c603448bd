import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Scope } from '../../src/access/grant.ts';
import type { LogEntry } from '../../src/log.ts';
import { type Service, startService } from '../../src/service.ts';
import { parseSettings } from '../../src/settings.ts';
import { openBackend } from '../../src/store/log-backend.ts';
import { NOW, us } from '../scripts/script.ts';
import { HttpClient } from '../support/http-client.ts';

/** Scopes by the name of the token that has them. */
export const TOKEN_SCOPES: Readonly<Record<string, readonly Scope[]>> = {
  ingest: ['ingest'],
  query: ['query'],
  explore: ['explore'],
  manage: ['manage'],
  all: ['ingest', 'query', 'manage'],
};

/** The text of the token of this name: nothing that an answer or a log would say by chance. */
export function tokenText(name: string): string {
  return `secret-${name}-6f1a`;
}

/** A whole service with a token for each scope, and its log. */
export class GuardedService {
  readonly client: HttpClient;
  readonly entries: readonly LogEntry[];
  readonly folder: string;
  readonly #service: Service;

  private constructor(service: Service, folder: string, entries: readonly LogEntry[]) {
    this.#service = service;
    this.folder = folder;
    this.entries = entries;
    this.client = new HttpClient(service.url);
  }

  static async start(settings: Readonly<Record<string, string>> = {}): Promise<GuardedService> {
    const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
    const tokens = Object.entries(TOKEN_SCOPES).map(([name, scopes]) => ({
      name,
      scopes,
      sha256: hash('sha256', tokenText(name), 'hex'),
    }));
    await writeFile(join(folder, 'tokens.json'), JSON.stringify({ version: 1, tokens }));
    const parsed = parseSettings({
      PORT: '0',
      DATA_DIR: folder,
      FROZEN_NOW: NOW,
      WORKERS: '1',
      ...settings,
    });
    const entries: LogEntry[] = [];
    const log = (entry: LogEntry): void => void entries.push(entry);
    const clock = {
      nowUs: () => us(NOW),
      monotonicMs: () => performance.now(),
      wallMs: () => Date.now(),
    };
    const service = await startService({
      ...{ settings: parsed, clock, log },
      // Tests send more wrong tokens than anybody who means well.
      refusedTokenWaitMs: 1,
      openBackend: (stored) => openBackend({ settings: stored, log }),
    });
    return new GuardedService(service, folder, entries);
  }

  get url(): string {
    return this.#service.url;
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.#service.stop();
    await rm(this.folder, { recursive: true });
  }
}
