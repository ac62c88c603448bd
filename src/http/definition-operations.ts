import type { Catalogue } from '../definition/catalogue.ts';
import type { Definitions } from '../definition/definitions.ts';
import type { ErrorCode } from '../errors.ts';
import type { AnswerText, BodyText, MediaTexts, ParameterText } from '../openapi/operation-text.ts';
import { describeList, describeObject, refTo } from '../openapi/schemas.ts';
import type { Profile } from '../profile.ts';
import type { LogIntake } from '../store/log-intake.ts';
import type { BodyReader } from './body.ts';
import {
  createHandler,
  endpointHandler,
  endpointListHandler,
  patchHandler,
  removeHandler,
  replaceHandler,
} from './definition-route.ts';
import type { Access, GuardedOperation, Route } from './route.ts';
import { WARNINGS_HEADER } from './warnings.ts';

type Options = {
  readonly catalogue: Catalogue;
  readonly definitions?: Definitions | undefined;
  readonly profile: Profile;
  readonly callBodies: BodyReader;
  readonly intake: Pick<LogIntake, 'listSources'>;
  readonly access: Access;
};

const IF_MATCH: readonly ParameterText[] = [
  {
    name: 'If-Match',
    in: 'header',
    description: 'The ETag of the version to change, or `*` for any version',
    schema: { type: 'string' },
  },
];

const IF_NONE_MATCH: readonly ParameterText[] = [
  {
    name: 'If-None-Match',
    in: 'header',
    description: '`*` allows only creation: an existing definition stays as it is',
    schema: { type: 'string' },
  },
];

const FILE: MediaTexts = { 'application/sql': { schema: { type: 'string' } } };

const DEFINITION_BODY: BodyText = {
  isRequired: true,
  description: 'The definition, or its file',
  content: {
    'application/json': {
      schema: refTo('DefinitionInput'),
      example: {
        name: 'app.events',
        query: 'SELECT COUNT(*) AS events FROM `postgres.logs` AS t WHERE t.project = @project',
        parameters: [{ name: 'project', type: 'string', required: true }],
      },
    },
    ...FILE,
  },
};

const PATCH = { schema: { type: 'object' }, example: { description: 'Events of a project' } };

/** Errors of changes. */
const CHANGE_FAILURES: readonly ErrorCode[] = [
  'invalid_definition',
  'definition_conflict',
  'definition_in_use',
  'definition_limit',
  'definition_read_only',
  'invalid_sql',
  'overloaded',
  'storage_failed',
];

/** Operations of the path that lists and makes definitions. */
export function definitionListOperations(options: Options): Route['operations'] {
  const { catalogue, definitions, access } = options;
  const content = {
    result: describeList(refTo('Definition')),
    problems: describeList(refTo('DefinitionProblem')),
  };
  const list: GuardedOperation = {
    summary: 'List all definitions',
    tag: 'definitions',
    answers: {
      200: {
        description: 'All definitions, and the problems of files that are not in force',
        content: { 'application/json': { schema: describeObject(content) } },
      },
    },
    access,
    handle: endpointListHandler(catalogue, definitions),
  };
  const managed = pickManaged(options);
  if (managed === undefined) return { GET: list };
  const create: GuardedOperation = {
    summary: 'Create a definition',
    tag: 'definitions',
    body: DEFINITION_BODY,
    answers: { 201: resultAnswer('It is stored, and may be called') },
    failures: CHANGE_FAILURES,
    access,
    handle: createHandler(managed),
  };
  return { GET: list, POST: create };
}

/** Operations that read one definition. */
export function definitionReadOperations({
  catalogue,
  access,
}: Pick<Options, 'catalogue' | 'access'>): Route['operations'] {
  const read: GuardedOperation = {
    summary: 'Read a definition by its id',
    tag: 'definitions',
    answers: {
      200: resultAnswer('As asked for', FILE),
      304: { description: 'The caller’s version is current' },
    },
    failures: ['unknown_endpoint'],
    access,
    handle: endpointHandler(catalogue),
  };
  return { GET: read };
}

/** Operations that change one definition; none where definitions cannot be changed. */
export function definitionChangeOperations(options: Options): Route['operations'] {
  const { access } = options;
  const managed = pickManaged(options);
  if (managed === undefined) return {};
  const changing = {
    ...({ tag: 'definitions', parameters: IF_MATCH, access } as const),
    failures: [...CHANGE_FAILURES, 'precondition_failed', 'precondition_required'] as const,
  };
  const ofKnown = { ...changing, failures: [...changing.failures, 'unknown_endpoint'] as const };
  return {
    PUT: {
      ...changing,
      summary: 'Replace a definition, or create it',
      parameters: [...IF_MATCH, ...IF_NONE_MATCH],
      body: DEFINITION_BODY,
      answers: { 200: resultAnswer('It is replaced'), 201: resultAnswer('It is made') },
      handle: replaceHandler(managed),
    },
    PATCH: {
      ...ofKnown,
      summary: 'Change parts of a definition',
      body: {
        isRequired: true,
        description: 'A merge patch of RFC 7396',
        content: { 'application/merge-patch+json': PATCH, 'application/json': PATCH },
      },
      answers: { 200: resultAnswer('It is changed') },
      handle: patchHandler(managed),
    },
    DELETE: {
      ...ofKnown,
      summary: 'Remove a definition',
      answers: { 204: { description: 'It is removed' } },
      handle: removeHandler(managed),
    },
  };
}

function pickManaged({ definitions, callBodies, profile, intake }: Options) {
  if (definitions === undefined) return undefined;
  const listSources = () => intake.listSources();
  return { definitions, bodies: callBodies, profile: profile.name, listSources };
}

function resultAnswer(description: string, others: MediaTexts = {}): AnswerText {
  const result = { schema: describeObject({ result: refTo('Definition') }) };
  return {
    description,
    content: { 'application/json': result, ...others },
    headers: {
      ETag: 'Of this state of the definition',
      [WARNINGS_HEADER]: 'That a source has one of its names, if one has',
    },
  };
}
