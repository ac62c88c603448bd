import { z } from 'zod';
import { findStorePath } from '../../ingest/data-folder.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { type Source, SourceDirectory } from '../../ingest/source.ts';
import { parseQuotaChange, parseTokenOrder } from '../access/token-order.ts';
import { openFileTokens, type Tokens } from '../access/tokens.ts';
import { prepareDataDir } from '../data-dir.ts';
import type { Settings } from '../settings.ts';
import { StartError } from '../start-error.ts';
import { SourceFile } from '../store/source-file.ts';
import { joinSources } from '../store/sources.ts';
import { CommandFailure, type CommandWorld } from './command.ts';
import { checkFolder } from './folder-command.ts';
import { withFolderLock } from './folder-lock.ts';
import { parseJson, ServiceClient } from './service-client.ts';

const KNOWN = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  from: z.string(),
  projects: z.array(z.string()).optional(),
  sources: z.array(z.string()).optional(),
  endpoints: z.array(z.string()).optional(),
  default_source: z.string().optional(),
  events_per_day: z.number().optional(),
  bytes_per_day: z.number().optional(),
  stored_bytes: z.number().optional(),
  used_today: z.object({ events: z.number(), bytes: z.number() }).optional(),
  used_stored_bytes: z.number().optional(),
  created_at: z.string().optional(),
  expires_at: z.string().optional(),
});

/** A token in a list. */
export type ListedToken = z.infer<typeof KNOWN>;

/**
 * Where a command finds tokens: in the data folder of a stopped service, or at a running service.
 */
export interface TokenStore {
  list(): Promise<readonly ListedToken[]>;
  /** @throws ServiceError or CommandFailure when it was not made. */
  create(order: object): Promise<ListedToken & { readonly token: string }>;
  /** @throws ServiceError or CommandFailure when the quota was not changed. */
  changeQuota(id: string, change: object): Promise<ListedToken>;
  /** @throws ServiceError or CommandFailure when it was not revoked. */
  revoke(id: string): Promise<void>;
}

const LIST = z.object({ result: z.array(KNOWN) });
const CHANGED = z.object({ result: KNOWN });
const MADE = z.object({ result: KNOWN.extend({ token: z.string() }) });

/** The tokens of a running service. */
export class ServiceTokens implements TokenStore {
  readonly #client: ServiceClient;

  constructor(url: string, token: string) {
    this.#client = new ServiceClient(url, token);
  }

  async list(): Promise<readonly ListedToken[]> {
    const text = await this.#client.ask('/api/tokens', { method: 'GET' });
    const parsed = LIST.safeParse(parseJson(text));
    if (!parsed.success) throw this.#client.stranger();
    return parsed.data.result;
  }

  async create(order: object): Promise<ListedToken & { readonly token: string }> {
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify(order);
    const text = await this.#client.ask('/api/tokens', { method: 'POST', headers, body });
    const parsed = MADE.safeParse(parseJson(text));
    if (!parsed.success) throw this.#client.stranger();
    return parsed.data.result;
  }

  async changeQuota(id: string, change: object): Promise<ListedToken> {
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify(change);
    const path = `/api/tokens/${encodeURIComponent(id)}`;
    const text = await this.#client.ask(path, { method: 'PATCH', headers, body });
    const parsed = CHANGED.safeParse(parseJson(text));
    if (!parsed.success) throw this.#client.stranger();
    return parsed.data.result;
  }

  async revoke(id: string): Promise<void> {
    await this.#client.ask(`/api/tokens/${encodeURIComponent(id)}`, { method: 'DELETE' });
  }
}

/** The tokens of a data folder, which is locked while they are changed. */
export class FolderTokens implements TokenStore {
  readonly #dataDir: string;
  readonly #settings: Settings;
  readonly #world: CommandWorld;

  constructor(dataDir: string, settings: Settings, world: CommandWorld) {
    this.#dataDir = dataDir;
    this.#settings = settings;
    this.#world = world;
  }

  async list(): Promise<readonly ListedToken[]> {
    await checkFolder(this.#dataDir);
    return (await this.#open(await findStorePath(this.#dataDir))).list();
  }

  async create(order: object): Promise<ListedToken & { readonly token: string }> {
    // A service may never have started in this folder.
    await asFailure(() => prepareDataDir(this.#dataDir));
    return this.#change(async (tokens, storePath) => {
      const { sources } = new SourceDirectory(await this.#sources(storePath));
      const parsed = parseTokenOrder(order, {
        nowMs: this.#world.wallMs(),
        sources: sources.map(({ name }) => name),
      });
      const { id, token } = await tokens.create(parsed);
      return { ...tokens.mustFindById(id), token };
    });
  }

  changeQuota(id: string, change: object): Promise<ListedToken> {
    return this.#change((tokens) => tokens.changeQuota(id, parseQuotaChange(change)));
  }

  revoke(id: string): Promise<void> {
    return this.#change((tokens) => tokens.revoke(id));
  }

  async #change<T>(work: (tokens: Tokens, storePath: string) => Promise<T>): Promise<T> {
    await checkFolder(this.#dataDir);
    const advice = 'Where a service runs there, ask it: --url URL';
    return withFolderLock({ dataDir: this.#dataDir, advice }, this.#world, async (storePath) =>
      work(await this.#open(storePath), storePath),
    );
  }

  /** Sources of the settings and those made over HTTP. */
  async #sources(storePath: string): Promise<readonly Source[]> {
    return asFailure(async () => {
      const { sources: made } = await new SourceFile(new NodeDisk(), storePath).read();
      return joinSources(this.#settings.sources, made);
    });
  }

  #open(storePath: string): Promise<Tokens> {
    return asFailure(() => openFileTokens(storePath, this.#world.wallMs));
  }
}

/** Errors that would end a start fail the command. */
async function asFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof StartError ? new CommandFailure(error.message, error) : error;
  }
}
