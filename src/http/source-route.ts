import { z } from 'zod';
import { formatProjectRule, type Source } from '../../ingest/source.ts';
import { mayUseSource } from '../access/grant.ts';
import { toTenant } from '../access/tenant.ts';
import type { Catalogue } from '../definition/catalogue.ts';
import { warnOfClashes } from '../definition/name-clash.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { SOURCE_BODY_BYTES_MAX } from '../limits.ts';
import type { LogIntake } from '../store/log-intake.ts';
import type { Sources } from '../store/sources.ts';
import { type BodyReader, hasBody } from './body.ts';
import { readJsonBody } from './json-body.ts';
import { sendJson } from './response.ts';
import { type GuardedOperation, pathParameter } from './route.ts';
import type { SourceListForm } from './source-list.ts';
import { setWarnings } from './warnings.ts';

type Handle = GuardedOperation['handle'];

/** The description of a new source. The default rule is that of `SOURCES`. */
const ORDER = z.strictObject({ project: z.string().default('project') });

/**
 * Lists the name, id and project rule of each source that a token may use. A token that may manage
 * also sees how much each holds.
 */
export function sourceListHandler(intake: LogIntake, { createBody }: SourceListForm): Handle {
  return (_request, response, { grant }) => {
    const sizes = grant.scopes.includes('manage') ? intake.sizes() : undefined;
    const visible = intake.listSources().filter((source) => mayUseSource(grant, source));
    const sources = visible.map((source) => ({ ...told(source), ...sizes?.get(source.name) }));
    sendJson(response, 200, createBody(sources));
  };
}

/**
 * Makes a source, or confirms that it exists with the same rule. After the answer, the source
 * survives a crash.
 */
export function sourceMakingHandler(
  sources: Sources,
  { bodies, catalogue }: { readonly bodies: BodyReader; readonly catalogue: Catalogue },
): Handle {
  return async (request, response, { grant }) => {
    const terms = { bytesMax: SOURCE_BODY_BYTES_MAX, tenant: toTenant(grant) };
    const isDescribed = hasBody(request);
    const value = isDescribed ? await readJsonBody(request, response, { bodies, terms }) : {};
    const { source, isNew } = await sources.put(pathParameter(request), ruleIn(value));
    const definitions = catalogue.list().map(({ definition }) => definition);
    setWarnings(response, [
      ...new Set(definitions.flatMap((definition) => warnOfClashes(definition, [source]))),
    ]);
    sendJson(response, isNew ? 201 : 200, { result: told(source) });
  };
}

function told(source: Source): {
  readonly id: string;
  readonly name: string;
  readonly project: string;
} {
  return { id: source.id, name: source.name, project: formatProjectRule(source) };
}

/** @throws ServiceError when the value does not describe a source. */
function ruleIn(value: unknown): string {
  const order = ORDER.safeParse(value);
  if (order.success) return order.data.project;
  throw new ServiceError(
    'invalid_body',
    `a source must be described by {"project": "project"} or {"project": "metadata.PATH"}; got ${echo(JSON.stringify(value))}`,
  );
}
