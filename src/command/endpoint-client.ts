import { z } from 'zod';
import { must } from '../../engine/columns.ts';
import { ANSWER_FORMATS } from '../call/answer-format.ts';
import type { ParameterDefinition } from '../definition/definition.ts';
import { DEFINITION_MEMBER } from '../openapi/operation-text.ts';
import type { CommandWorld } from './command.ts';
import { LISTED_PARAMETER } from './listed-parameter.ts';
import type { NamedCall } from './named-call.ts';
import { parseJson, type ServiceAnswer, type ServiceClient } from './service-client.ts';
import { showCall } from './shown-call.ts';

/** What the command needs to know about an endpoint to check its arguments. */
export type KnownEndpoint = {
  readonly id: string;
  readonly name: string;
  readonly aliases: readonly string[];
  readonly isSandboxed: boolean;
  readonly parameters: readonly ParameterDefinition[];
};

const CALLABLE = z
  .object({
    id: z.string(),
    name: z.string(),
    alias: z.array(z.string()),
    sandbox: z.string(),
    parameters: z.array(LISTED_PARAMETER),
  })
  .transform(({ alias, sandbox, ...endpoint }): KnownEndpoint => {
    return { ...endpoint, aliases: alias, isSandboxed: sandbox === 'enabled' };
  });

/** The OpenAPI document: the paths of definitions have this member. */
const DOCUMENT_SCHEMA = z.object({
  paths: z.record(
    z.string(),
    z.object({ get: z.object({ [DEFINITION_MEMBER]: CALLABLE.optional() }).optional() }),
  ),
});

/** Asks a running service for its endpoints, for answers, and for explanations. */
export class EndpointClient {
  readonly #client: ServiceClient;

  constructor(client: ServiceClient) {
    this.#client = client;
  }

  /** Calls an endpoint, for an answer in the named format. Shows progress, and throws, as `showCall` does. */
  call(
    { definition, parameters, sql }: NamedCall,
    { format, world }: { readonly format: string; readonly world: CommandWorld },
  ): Promise<ServiceAnswer> {
    const { mediaTypes } = must(ANSWER_FORMATS.find(({ name }) => name === format));
    const request = {
      method: 'POST',
      headers: { Accept: mediaTypes[0], 'Content-Type': 'application/json' },
      // Without a text, the member is left out.
      body: JSON.stringify({ ...Object.fromEntries(parameters), sql }),
    };
    const path = `/api/endpoints/query/${encodeURIComponent(definition)}`;
    return showCall(this.#client, { path, request, signal: world.ended() }, world);
  }

  /**
   * Lists the definitions that the token may call or manage.
   *
   * @throws UnreachableError, or ServiceError when the service refuses.
   */
  async list(): Promise<readonly KnownEndpoint[]> {
    const text = await this.#client.ask('/api/openapi.json', { method: 'GET' });
    const parsed = DOCUMENT_SCHEMA.safeParse(parseJson(text));
    if (!parsed.success) throw this.#client.stranger();
    return Object.values(parsed.data.paths).flatMap(({ get }) => get?.[DEFINITION_MEMBER] ?? []);
  }

  /** Explains a call, as text or as JSON. Throws as `list` does. */
  async explain(call: {
    readonly id: string;
    readonly parameters: ReadonlyMap<string, string>;
    readonly sql: string | undefined;
    readonly isJson: boolean;
  }): Promise<string> {
    const { id, parameters, sql, isJson } = call;
    const text = await this.#client.ask(
      `/api/endpoints/query/${encodeURIComponent(id)}?explain=true`,
      {
        method: 'POST',
        headers: {
          Accept: isJson ? 'application/json' : 'text/plain',
          'Content-Type': 'application/json',
        },
        // Without a text, the member is left out.
        body: JSON.stringify({ ...Object.fromEntries(parameters), sql }),
      },
    );
    return isJson ? JSON.stringify(parseJson(text), null, 2) : text;
  }
}
