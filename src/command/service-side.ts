import { z } from 'zod';
import { must } from '../../engine/columns.ts';
import { DefinitionError } from '../definition/definition-error.ts';
import { DEFINITION_ENDING } from '../definition/definition-reading.ts';
import { ServiceError } from '../errors.ts';
import { type DefinitionCopy, readCopy, sentText } from './definition-copy.ts';
import type { DefinitionSide, FixedDefinition, SideProblem, SideState } from './definition-side.ts';
import { LISTED_PARAMETER } from './listed-parameter.ts';
import { parseJson, type ServiceClient } from './service-client.ts';

const LISTED = z.object({
  id: z.string(),
  name: z.string(),
  alias: z.array(z.string()),
  description: z.string(),
  parameters: z.array(LISTED_PARAMETER),
  inherited_parameters: z.array(LISTED_PARAMETER),
  cache: z.string(),
  origin: z.enum(['built-in', 'folder', 'api']),
  version: z.number(),
});

/** A definition in the service's list. */
type ListedDefinition = z.infer<typeof LISTED>;

const LIST = z.object({
  result: z.array(LISTED),
  problems: z.array(
    z.object({
      origin: z.string(),
      file: z.string(),
      message: z.string(),
      served: z.string(),
      line: z.number().optional(),
      column: z.number().optional(),
      caret: z.string().optional(),
    }),
  ),
});

type DefinitionList = z.infer<typeof LIST>;

/** The definitions of a running service. Those made over HTTP can be changed. */
export class ServiceSide implements DefinitionSide {
  readonly where = 'on the service';
  readonly #client: ServiceClient;
  /** Tags of the copies that were read, so that a change applies only to that version. */
  readonly #tags = new WeakMap<DefinitionCopy, string>();

  constructor(client: ServiceClient) {
    this.#client = client;
  }

  /**
   * Lists all definitions and the problems of their files.
   *
   * @throws UnreachableError, or ServiceError when the service refuses.
   */
  list(): Promise<DefinitionList> {
    return this.#list();
  }

  async read(): Promise<SideState> {
    const { result, problems: told } = await this.#list();
    // Problems in ENDPOINTS_DIR are not this side's.
    const problems = told
      .filter(({ origin }) => origin === 'api')
      .map(({ file, message }): SideProblem => {
        const id = file.endsWith(DEFINITION_ENDING)
          ? file.slice(0, -DEFINITION_ENDING.length)
          : file;
        return { id, message: `${id} of the service cannot be called: ${message}` };
      });
    const copies: DefinitionCopy[] = [];
    for (const listed of result.filter(({ origin }) => origin === 'api')) {
      try {
        const copy = await this.#read(listed.id);
        if (copy !== undefined) copies.push(copy);
      } catch (error) {
        if (!(error instanceof DefinitionError)) throw error;
        problems.push({ id: listed.id, message: error.message });
      }
    }
    return { copies, fixed: result.flatMap(listFixed), problems };
  }

  /** The service itself refuses what it cannot take. */
  findObstacle(): undefined {
    return undefined;
  }

  async put(copy: DefinitionCopy, before: DefinitionCopy | undefined): Promise<void> {
    const headers = { 'Content-Type': 'application/sql' };
    const body = sentText(copy);
    if (before === undefined) {
      await this.#change(copy.id, { method: 'PUT', headers, body }, { 'If-None-Match': '*' });
    } else await this.#changeSame(before, { method: 'PUT', headers, body });
  }

  async remove(before: DefinitionCopy): Promise<void> {
    await this.#changeSame(before, { method: 'DELETE' });
  }

  /**
   * Changes a copy that was read. Its tag also depends on the definitions that it selects from. If
   * these were changed earlier in this run, the tag differs although the copy is the same, so it is
   * read again.
   */
  async #changeSame(before: DefinitionCopy, request: RequestInit): Promise<void> {
    try {
      await this.#change(before.id, request, { 'If-Match': this.#getTag(before) });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'precondition_failed') throw error;
      const now = await this.#read(before.id);
      if (now === undefined || now.place !== before.place || now.fileText !== before.fileText) {
        throw error;
      }
      await this.#change(before.id, request, { 'If-Match': this.#getTag(now) });
    }
  }

  async #change(
    id: string,
    request: RequestInit,
    condition: Readonly<Record<string, string>>,
  ): Promise<void> {
    const headers = { ...(request.headers as Readonly<Record<string, string>>), ...condition };
    await this.#client.ask(formatPath(id), { ...request, headers });
  }

  #getTag(copy: DefinitionCopy): string {
    return must(this.#tags.get(copy), 'what is changed was read');
  }

  async #list(): Promise<DefinitionList> {
    const text = await this.#client.ask('/api/endpoints', { method: 'GET' });
    const parsed = LIST.safeParse(parseJson(text));
    if (!parsed.success) throw this.#client.stranger();
    return parsed.data;
  }

  /**
   * Returns `undefined` if the definition is gone.
   *
   * @throws DefinitionError for a file of another version.
   */
  async #read(id: string): Promise<DefinitionCopy | undefined> {
    const headers = { Accept: 'application/sql' };
    const { text, tag } = await this.#client
      .answer(formatPath(id), { method: 'GET', headers })
      .catch((error: unknown) => {
        if (error instanceof ServiceError && error.code === 'unknown_endpoint') return NOTHING;
        throw error;
      });
    if (text === undefined) return undefined;
    const version = /^"(\d+)-/.exec(tag ?? '')?.[1];
    if (tag === undefined || version === undefined) throw this.#client.stranger();
    const { name } = readCopy(`${id} of the service`, text);
    const copy = readCopy(`${name} of the service, version ${version}`, text);
    if (copy.id !== id) throw this.#client.stranger();
    this.#tags.set(copy, tag);
    return copy;
  }
}

const NOTHING = { text: undefined, tag: undefined };

function formatPath(id: string): string {
  return `/api/endpoints/${encodeURIComponent(id)}`;
}

function listFixed({ id, name, alias, origin }: ListedDefinition): readonly FixedDefinition[] {
  if (origin === 'api') return [];
  const told = origin === 'folder' ? 'is a file of its ENDPOINTS_DIR' : 'is built in';
  return [{ id, name, names: new Set([name, ...alias]), origin: told }];
}
