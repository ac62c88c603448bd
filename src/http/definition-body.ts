import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Grant } from '../access/grant.ts';
import { toTenant } from '../access/tenant.ts';
import { listNames } from '../definition/definition.ts';
import {
  DefinitionError,
  type DefinitionFault,
  excerpt,
  type Position,
} from '../definition/definition-error.ts';
import { parseDefinitionFile } from '../definition/definition-file.ts';
import { type DefinitionResource, resourceText } from '../definition/definition-json.ts';
import { definitionText } from '../definition/definition-text.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';
import { DEFINITION_BODY_BYTES_MAX } from '../limits.ts';
import type { ProfileName } from '../profile.ts';
import { type BodyReader, hasBody } from './body.ts';
import { parseJson, textOfBody } from './json-body.ts';
import { readMediaType } from './media-type.ts';

export const DEFINITION_TYPES = ['application/json', 'application/sql'] as const;
export const PATCH_TYPES = ['application/merge-patch+json', 'application/json'] as const;

/** A parsed body: the text of SQL, or the value of JSON. */
export type DefinitionBody =
  | { readonly kind: 'sql'; readonly text: string }
  | { readonly kind: 'json'; readonly value: unknown };

/** The allowed types of a body, and its sender. */
type BodyWanted = {
  readonly types: readonly ((typeof DEFINITION_TYPES)[number] | (typeof PATCH_TYPES)[number])[];
  readonly grant: Grant;
};

/** The definition file that a request asks for. */
export type AskedFile = {
  readonly id: string;
  /** Its name and its aliases. */
  readonly names: readonly string[];
  readonly fileText: string;
  /** Makes the error for a problem of the file, with its place in what was sent. */
  readonly tell: (error: DefinitionError) => ServiceError;
};

/**
 * Reads the body of a request; one without a type is JSON.
 *
 * @throws ServiceError when its type is not allowed, or it is too large or malformed.
 */
export async function readDefinitionBody(
  bodies: BodyReader,
  request: IncomingMessage,
  response: ServerResponse,
  { types, grant }: BodyWanted,
): Promise<DefinitionBody> {
  const type = readMediaType(request.headers['content-type'], types) ?? 'application/json';
  if (!hasBody(request)) {
    throw new ServiceError('invalid_body', 'the body must be a definition; got nothing');
  }
  const terms = { bytesMax: DEFINITION_BODY_BYTES_MAX, tenant: toTenant(grant) };
  const bytes = await bodies.use(request, response, terms, async (pieces) => Buffer.concat(pieces));
  const text = textOfBody(bytes);
  return type === 'application/sql'
    ? { kind: 'sql', text }
    : { kind: 'json', value: parseJson(text) };
}

/**
 * The file for a body of SQL, which is used as sent. If it has no id, it gets the id in the path,
 * unless that id follows from its name anyway.
 *
 * @throws ServiceError when its header does not parse.
 */
export function askedBySql(sent: string, profile: ProfileName, pathId?: string): AskedFile {
  let linesAdded = 0;
  const tell = ({ position, reason, fault }: DefinitionError): ServiceError => {
    const place = { ...position, line: Math.max(1, position.line - linesAdded) };
    return new ServiceError(CODES[fault], reason, { ...place, caret: excerpt(sent, place) });
  };
  const { definition, hasId } = told(() => parseDefinitionFile(FILE_NAME, sent, profile), tell);
  const names = listNames(definition);
  if (hasId || pathId === undefined || pathId === definition.id) {
    return { id: definition.id, names, fileText: sent, tell };
  }
  linesAdded = 1;
  return { id: pathId, names, fileText: `-- id: ${pathId}\n${sent}`, tell };
}

/**
 * The file for a JSON resource, in the service's own format. Positions refer to `query`.
 *
 * @throws ServiceError when the resource is not valid.
 */
export function askedByResource(
  resource: DefinitionResource,
  id: string,
  profile: ProfileName,
): AskedFile {
  const { query } = resource;
  const emptyLineCount = Math.max(
    0,
    query.split('\n').findIndex((line) => line.trim() !== ''),
  );
  let headerLineCount = 0;
  const tell = ({ position, reason, fault }: DefinitionError): ServiceError => {
    if (fault !== 'statement') return new ServiceError(CODES[fault], reason);
    const line = position.line - headerLineCount + emptyLineCount;
    const place: Position = { line, column: position.column };
    return new ServiceError(CODES[fault], reason, { ...place, caret: excerpt(query, place) });
  };
  const text = resourceText(resource, id);
  const { definition } = told(() => parseDefinitionFile(FILE_NAME, text, profile), tell);
  const fileText = definitionText(definition);
  headerLineCount = parseDefinitionFile(FILE_NAME, fileText, profile).headerLineCount;
  return { id: definition.id, names: listNames(definition), fileText, tell };
}

/** Returns what `work` returns. A DefinitionError becomes the error of the asked file. */
export async function reportProblem<T>(
  asked: () => AskedFile | undefined,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    throw asked()?.tell(error) ?? error;
  }
}

/** A placeholder for files without a name. It appears in no message. */
const FILE_NAME = 'definition.sql';

const CODES: Readonly<Record<DefinitionFault, ErrorCode>> = {
  header: 'invalid_definition',
  statement: 'invalid_sql',
  conflict: 'definition_conflict',
  limit: 'definition_limit',
};

function told<T>(work: () => T, tell: AskedFile['tell']): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof DefinitionError ? tell(error) : error;
  }
}
