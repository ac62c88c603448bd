import { mayUseSource } from '../access/grant.ts';
import type { Catalogue, Endpoint } from '../definition/catalogue.ts';
import type { LogIntake } from '../store/log-intake.ts';
import { mustFindEndpoint } from './call-route.ts';
import { sendJson } from './response.ts';
import { type GuardedOperation, pathParameter } from './route.ts';

type Handle = GuardedOperation['handle'];

/** All definitions. */
export function endpointListHandler(catalogue: Catalogue): Handle {
  return (_request, response) => {
    sendJson(response, 200, { result: catalogue.list().map(describe) });
  };
}

/** One definition, by its id. */
export function endpointHandler(catalogue: Catalogue): Handle {
  return (request, response) => {
    sendJson(response, 200, {
      result: describe(mustFindEndpoint(catalogue, pathParameter(request))),
    });
  };
}

/**
 * The names and ids of all sources that a token is for: whoever may post must know where to. A token
 * that may manage also sees how much each holds.
 */
export function sourceListHandler(intake: LogIntake): Handle {
  return (_request, response, { grant }) => {
    const sizes = grant.scopes.includes('manage') ? intake.sizes() : undefined;
    const visible = intake.listSources().filter((source) => mayUseSource(grant, source));
    const sources = visible.map(({ id, name }) => ({ id, name, ...sizes?.get(name) }));
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
