import { createHash, randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import { isUuid, type Source } from '../../ingest/source.ts';
import type { Grant } from '../access/grant.ts';
import type { Catalogue } from '../definition/catalogue.ts';
import { listNames } from '../definition/definition.ts';
import { computeDefinitionId } from '../definition/definition-file.ts';
import { describeEndpoint, mergePatch, parseResource } from '../definition/definition-json.ts';
import { servedText } from '../definition/definition-problem.ts';
import { withVersion } from '../definition/definition-text.ts';
import type { Definitions } from '../definition/definitions.ts';
import type { Endpoint } from '../definition/endpoint.ts';
import { warnOfClashes } from '../definition/name-clash.ts';
import { ServiceError } from '../errors.ts';
import type { ProfileName } from '../profile.ts';
import type { BodyReader } from './body.ts';
import { unknownEndpoint } from './call-route.ts';
import {
  type AskedFile,
  askedByResource,
  askedBySql,
  DEFINITION_TYPES,
  type DefinitionBody,
  PATCH_TYPES,
  readDefinitionBody,
  reportProblem,
} from './definition-body.ts';
import { namesTag } from './http-caching.ts';
import { acceptWeight } from './media-type.ts';
import { checkIfMatch, checkIfNoneMatch } from './preconditions.ts';
import { sendBytes, sendJson, varyBy } from './response.ts';
import { type GuardedOperation, pathParameter } from './route.ts';
import { setWarnings } from './warnings.ts';

type Handle = GuardedOperation['handle'];

type Managed = {
  readonly definitions: Definitions;
  readonly bodies: BodyReader;
  readonly profile: ProfileName;
  readonly listSources: () => readonly Source[];
};

/** Lists all definitions, and the problems of those that are not in force. */
export function endpointListHandler(
  catalogue: Catalogue,
  definitions: Definitions | undefined,
): Handle {
  return (_request, response) => {
    const problems = (definitions?.problems() ?? []).map(({ isServed, reason, ...problem }) => {
      return { ...problem, message: reason, served: servedText(isServed) };
    });
    sendJson(response, 200, { result: catalogue.list().map(describeEndpoint), problems });
  };
}

/** Returns a definition by its id, as JSON or as its file, whichever `Accept` prefers. */
export function endpointHandler(catalogue: Catalogue): Handle {
  return (request, response, { grant }) => {
    const id = pathParameter(request);
    const endpoint = catalogue.find(id);
    if (endpoint === undefined) throw unknownEndpoint(id, catalogue, grant);
    const { accept } = request.headers;
    const weight = acceptWeight(accept, 'application/sql');
    const form = weight > 0 && weight >= acceptWeight(accept, 'application/json') ? 'sql' : 'json';
    const etag = formatTag(endpoint, form);
    response.setHeader('ETag', etag);
    response.setHeader('Cache-Control', 'private, no-cache');
    varyBy(response, 'Accept');
    if (namesTag(request.headers['if-none-match'], etag)) {
      response.statusCode = 304;
      response.end();
    } else if (form === 'json') sendJson(response, 200, { result: describeEndpoint(endpoint) });
    else {
      const fileText = withVersion(endpoint.fileText, 1);
      sendBytes(response, 200, 'application/sql; charset=utf-8', [Buffer.from(fileText)]);
    }
  };
}

/** Creates a definition with the id in the body; a JSON body without one gets a new id. */
export function createHandler({ definitions, bodies, profile, listSources }: Managed): Handle {
  return async (request, response, { grant }) => {
    const body = await readDefinitionBody(bodies, request, response, {
      types: DEFINITION_TYPES,
      grant,
    });
    const asked = askedBy(body, { profile });
    const made = definitions.change(
      asked.id,
      () => {
        // A stored definition that cannot be called is not in the catalogue, but has its id.
        if (!definitions.isStored(asked.id)) return asked.fileText;
        throw new ServiceError('definition_conflict', `there is a definition ${asked.id} already`);
      },
      grant.name,
    );
    sendChanged(response, 201, await reportProblem(() => asked, made), listSources());
  };
}

/** Replaces the definition that the path names, or creates it. */
export function replaceHandler({ definitions, bodies, profile, listSources }: Managed): Handle {
  return async (request, response, { grant }) => {
    const { id, name } = findTarget(request, definitions.catalogue);
    const body = await readDefinitionBody(bodies, request, response, {
      types: DEFINITION_TYPES,
      grant,
    });
    let isNew = false;
    const current = id === undefined ? undefined : definitions.catalogue.find(id);
    const asked = askedBy(body, { profile, id, name, current });
    const changed = definitions.change(
      asked.id,
      (current) => {
        checkNamed(current, name);
        const tags = current && listTags(current);
        checkIfNoneMatch(request, tags);
        checkIfMatch(request, tags, { isNeeded: current !== undefined });
        isNew = current === undefined;
        return asked.fileText;
      },
      grant.name,
    );
    const endpoint = await reportProblem(() => asked, changed);
    sendChanged(response, isNew ? 201 : 200, endpoint, listSources());
  };
}

/** Changes some members of a definition with a merge patch (RFC 7396) of its JSON. */
export function patchHandler({ definitions, bodies, profile, listSources }: Managed): Handle {
  return async (request, response, { grant }) => {
    const { id, name } = mustFindTarget(request, definitions.catalogue, grant);
    const body = await readDefinitionBody(bodies, request, response, { types: PATCH_TYPES, grant });
    const patch = body.kind === 'json' ? body.value : undefined;
    let asked: AskedFile | undefined;
    const changed = definitions.change(
      id,
      (current) => {
        checkNamed(current, name);
        checkIfMatch(request, current && listTags(current), { isNeeded: true });
        if (current === undefined) throw unknownEndpoint(id, definitions.catalogue, grant);
        if (current.namesProfile) throw onlyWhole(current);
        const value = mergePatch(describeEndpoint(current), patch);
        asked = askedBy({ kind: 'json', value }, { profile, id, current });
        return asked.fileText;
      },
      grant.name,
    );
    // `asked` is set when the change has its turn.
    sendChanged(response, 200, await reportProblem(() => asked, changed), listSources());
  };
}

/** Removes a definition. */
export function removeHandler({ definitions }: Managed): Handle {
  return async (request, response, { grant }) => {
    const { catalogue } = definitions;
    const { id, name } = mustFindTarget(request, catalogue, grant);
    await definitions.change(
      id,
      (current) => {
        checkNamed(current, name);
        if (current === undefined && !definitions.isStored(id))
          throw unknownEndpoint(id, catalogue, grant);
        // A definition that cannot be called has no tag.
        checkIfMatch(request, current ? listTags(current) : [], { isNeeded: true });
        return undefined;
      },
      grant.name,
    );
    response.statusCode = 204;
    response.end();
  };
}

/** @throws ServiceError for an invalid definition, or one that the path does not name. */
function askedBy(
  body: DefinitionBody,
  under: {
    readonly profile: ProfileName;
    readonly id?: string | undefined;
    /** The name in the path. */
    readonly name?: string | undefined;
    readonly current?: Endpoint | undefined;
  },
): AskedFile {
  const { profile, id, name, current } = under;
  if (body.kind === 'sql') return asWanted(askedBySql(body.text, profile, id), { id, name });
  const resource = parseResource(body.value, current);
  const idElse = id ?? (name === undefined ? randomUUID() : computeDefinitionId(name));
  return asWanted(askedByResource(resource, resource.id ?? idElse, profile), { id, name });
}

/**
 * @throws ServiceError when the path names another definition: a new one must have the path's name,
 * and an existing one keeps its id.
 */
function asWanted(
  asked: AskedFile,
  { id, name }: { readonly id: string | undefined; readonly name: string | undefined },
): AskedFile {
  if (id === undefined && name !== undefined && !asked.names.includes(name)) {
    throw new ServiceError(
      'invalid_definition',
      `name must be that of the path, ${name}; got ${asked.names[0]}`,
    );
  }
  if (id === undefined || asked.id === id) return asked;
  const owner = name === undefined ? 'the path' : name;
  throw new ServiceError(
    'invalid_definition',
    `id must be that of ${owner}, ${id}; got ${asked.id}`,
  );
}

function sendChanged(
  response: Response,
  status: 200 | 201,
  endpoint: Endpoint | undefined,
  sources: readonly Source[],
): void {
  if (endpoint === undefined) throw new Error('what was changed is in force');
  response.setHeader('ETag', formatTag(endpoint, 'json'));
  setWarnings(response, warnOfClashes(endpoint.definition, sources));
  if (status === 201) response.setHeader('Location', `/api/endpoints/${endpoint.definition.id}`);
  sendJson(response, status, { result: describeEndpoint(endpoint) });
}

/** The entity tag, different for each version and each form (RFC 9110 §8.8.3). */
function formatTag(endpoint: Endpoint, form: 'json' | 'sql'): string {
  const digest = createHash('sha256')
    .update(JSON.stringify(describeEndpoint(endpoint)))
    .update(withVersion(endpoint.fileText, 1))
    .digest('base64url')
    .slice(0, TAG_DIGEST_LENGTH);
  return `"${endpoint.definition.version}-${digest}${form === 'sql' ? '.sql' : ''}"`;
}

/** 96 bits: two states of one definition never meet. */
const TAG_DIGEST_LENGTH = 16;

function listTags(endpoint: Endpoint): readonly string[] {
  return [formatTag(endpoint, 'json'), formatTag(endpoint, 'sql')];
}

/** The definition that a path names by its id or by a name. The name may not exist yet. */
type Target = { readonly id: string | undefined; readonly name?: string };

function findTarget(request: Request, catalogue: Catalogue): Target {
  const text = pathParameter(request);
  if (isUuid(text)) return { id: text.toLowerCase() };
  return { id: catalogue.find(text)?.definition.id, name: text };
}

/** @throws ServiceError when no definition has the name. */
function mustFindTarget(
  request: Request,
  catalogue: Catalogue,
  grant: Grant,
): Target & { readonly id: string } {
  const { id, name } = findTarget(request, catalogue);
  if (id === undefined) throw unknownEndpoint(pathParameter(request), catalogue, grant);
  return { id, ...(name !== undefined && { name }) };
}

/**
 * Checks the name again, because another definition may have taken it since it was looked up.
 *
 * @throws ServiceError
 */
function checkNamed(current: Endpoint | undefined, name: string | undefined): void {
  if (current === undefined || name === undefined) return;
  const { definition } = current;
  if (listNames(definition).includes(name)) return;
  throw new ServiceError(
    'definition_conflict',
    `the id ${definition.id} is that of ${definition.name}, and not of ${name}; give ${name} its own id`,
  );
}

/** The error for a change in JSON that would lose lines for other profiles. */
function onlyWhole({ definition: { name } }: Endpoint): ServiceError {
  return new ServiceError(
    'definition_conflict',
    `the file of ${name} has lines for one profile, which JSON does not have; put the file as a whole, as application/sql`,
  );
}
