import { authenticate, authorize } from '../access/authenticate.ts';
import type { Tokens } from '../access/tokens.ts';
import type { Catalogue, Endpoint } from '../definition/catalogue.ts';
import type { LogIntake } from '../store/log-intake.ts';
import { mustFindEndpoint, pathParameter } from './call-route.ts';
import type { Handler } from './http-route.ts';
import { sendJson } from './response.ts';

type Options = { readonly catalogue: Catalogue; readonly tokens: Tokens };

/** All definitions. */
export function endpointListHandler({ catalogue, tokens }: Options): Handler {
  return (request, response) => {
    authorize(authenticate(tokens, request), 'manage');
    sendJson(response, 200, { result: catalogue.list().map(describe) });
  };
}

/** One definition, by its id. */
export function endpointHandler({ catalogue, tokens }: Options): Handler {
  return (request, response) => {
    authorize(authenticate(tokens, request), 'manage');
    sendJson(response, 200, {
      result: describe(mustFindEndpoint(catalogue, pathParameter(request))),
    });
  };
}

/**
 * The names and ids of all sources, for every token: whoever may post must know where to. A token
 * that may manage also sees how much each holds.
 */
export function sourceListHandler(options: {
  readonly intake: LogIntake;
  readonly tokens: Tokens;
}): Handler {
  return (request, response) => {
    const { scopes } = authenticate(options.tokens, request);
    const sizes = scopes.includes('manage') ? options.intake.sizes() : undefined;
    const sources = options.intake
      .listSources()
      .map(({ id, name }) => ({ id, name, ...sizes?.get(name) }));
    sendJson(response, 200, { result: sources });
  };
}

/** A definition as it is listed, in the words of its file. */
function describe({ definition }: Endpoint): object {
  const { cacheS, warmS } = definition;
  return {
    id: definition.id,
    name: definition.name,
    alias: definition.aliases,
    description: definition.description,
    parameters: definition.parameters.map((parameter) => ({
      name: parameter.name,
      type: parameter.type,
      required: parameter.required,
      default: parameter.default,
      enum: parameter.values,
      from: parameter.from.length === 0 ? undefined : parameter.from,
    })),
    max_rows: definition.rowsMax,
    cache: cacheS === undefined ? 'disabled' : `${cacheS}s`,
    warm: warmS === undefined ? 'disabled' : `${warmS}s`,
    sandbox: definition.isSandboxed ? 'enabled' : 'disabled',
    query: definition.text,
  };
}
