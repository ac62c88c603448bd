import { must } from '../../engine/columns.ts';
import { BODY_ENCODING_NAMES } from '../http/encoding/body-encoding.ts';
import { METHODS, type Method, type Operation, type Route } from '../http/route.ts';
import { type Answers, mergeAnswers, type ResponseComponents } from './answers.ts';
import { type FailureForm, failureAnswers, listCodes, unreadAnswers } from './failures.ts';
import type { BodyText, ParameterText } from './operation-text.ts';
import { describeUnion } from './schemas.ts';
import { describeSecurity } from './security.ts';

type Json = Readonly<Record<string, unknown>>;

/** The parts of a document that its routes contribute to. */
export type Parts = {
  readonly responses: ResponseComponents;
  /** The format of failures of routes without a format of their own. */
  readonly failureForm: FailureForm;
};

/** The documented properties of an operation. */
type Told = {
  readonly summary: string;
  readonly description: string | undefined;
  readonly tag: string;
  readonly parameters: readonly Json[];
  readonly body: BodyText | undefined;
  readonly answers: Answers;
  readonly security: readonly object[];
  readonly extensions: Json;
};

/** Converts a path from Express's syntax to OpenAPI's. */
export function formatTemplate(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

/**
 * The Path Item Object of the routes of one path. If several routes share a path and only the
 * request decides between them, a method is described with all of their operations.
 */
export function pathItem(path: string, routes: readonly Route[], parts: Parts): Json {
  const item: Record<string, Json> = {};
  for (const method of METHODS) {
    const told = routes.flatMap((route) => {
      const operation = route.operations[method];
      return operation === undefined ? [] : [tell(method, operation, route, parts)];
    });
    const [first, ...others] = told;
    if (first === undefined) continue;
    item[method.toLowerCase()] = operationObject(
      others.reduce(either, first),
      operationId(method, path),
      parts,
    );
  }
  return item;
}

function tell(method: Method, operation: Operation, route: Route, { failureForm }: Parts): Told {
  const { summary, description, tag, parameters = [], body, answers, extensions = {} } = operation;
  const form = {
    tell: route.tellFailure ?? failureForm.tell,
    schemas: route.failureSchemas ?? failureForm.schemas,
  };
  const bodyTypes = Object.keys(body?.content ?? {});
  const failures = failureAnswers(listCodes(operation, route), form, bodyTypes);
  const successes = new Map(
    Object.entries(answers).map(([status, answer]) => [Number(status), answer]),
  );
  // The body of a GET is read, but many clients cannot send one, so no document should ask for it.
  const isBodyTold = body !== undefined && method !== 'GET';
  return {
    summary,
    description,
    tag,
    parameters: [
      ...pathParameters(route),
      ...[...parameters, ...(isBodyTold && body.isPlain !== true ? [CONTENT_ENCODING] : [])].map(
        parameterObject,
      ),
    ],
    body: isBodyTold ? body : undefined,
    answers: mergeAnswers(mergeAnswers(successes, failures), unreadAnswers(failureForm)),
    security: describeSecurity(operation),
    extensions,
  };
}

const CONTENT_ENCODING: ParameterText = {
  name: 'Content-Encoding',
  in: 'header',
  description: 'The compression of the body',
  schema: { type: 'string', enum: ['identity', ...BODY_ENCODING_NAMES] },
};

function pathParameters({ path, pathParameters: texts = {} }: Route): readonly Json[] {
  return Array.from(path.matchAll(/:(\w+)/g), ([, name]) => {
    const { description, schema } = must(texts[name!], `${path} says what ${name} is`);
    return { name, in: 'path', required: true, description, schema: schema ?? { type: 'string' } };
  });
}

function parameterObject(text: ParameterText): Json {
  const { name, description, schema, required, mayBeEmpty, example, isSet } = text;
  return {
    name,
    in: text.in,
    description,
    ...(required === true && { required }),
    ...(mayBeEmpty === true && { allowEmptyValue: true }),
    ...(isSet === true && { style: 'form', explode: true }),
    schema,
    ...(example !== undefined && { example }),
  };
}

function either(first: Told, second: Told): Told {
  const parameters = new Map(
    [...first.parameters, ...second.parameters].map((one) => [`${one['in']} ${one['name']}`, one]),
  );
  const security = new Map(
    [...first.security, ...second.security].map((one) => [JSON.stringify(one), one]),
  );
  return {
    summary: `${first.summary}, or: ${second.summary}`,
    description: [first.description, second.description].filter(Boolean).join('\n\n') || undefined,
    tag: first.tag,
    parameters: [...parameters.values()],
    body: eitherBody(first.body, second.body),
    answers: mergeAnswers(first.answers, second.answers),
    security: [...security.values()],
    extensions: { ...first.extensions, ...second.extensions },
  };
}

function eitherBody(
  first: BodyText | undefined,
  second: BodyText | undefined,
): BodyText | undefined {
  if (first === undefined || second === undefined) {
    const body = first ?? second;
    return body && { ...body, isRequired: false };
  }
  const content = { ...first.content };
  for (const [mediaType, { schema }] of Object.entries(second.content)) {
    const before = content[mediaType];
    content[mediaType] = { schema: describeUnion(before ? [before.schema, schema] : [schema]) };
  }
  return { ...first, isRequired: first.isRequired && second.isRequired, content };
}

function operationObject(told: Told, id: string, { responses }: Parts): Json {
  const { summary, description, tag, parameters, body, answers, security } = told;
  const statuses = [...answers.keys()].sort((left, right) => left - right);
  return {
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    operationId: id,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        ...(body.description !== undefined && { description: body.description }),
        required: body.isRequired,
        content: body.content,
      },
    }),
    responses: Object.fromEntries(
      statuses.map((status) => [status, responses.refTo(status, answers.get(status)!)]),
    ),
    security,
    ...told.extensions,
  };
}

/** The method and the words of the path, such as `get.api.endpoints`. */
function operationId(method: Method, path: string): string {
  const words = path.split('/').filter((word) => word !== '');
  return [method.toLowerCase(), ...words].join('.').replaceAll(/[{}:]/g, '');
}
