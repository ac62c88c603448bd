import { SQL_PARAMETER } from '../call/caller-sql.ts';
import type { ParameterDefinition } from '../definition/definition.ts';
import { describeCallable } from '../definition/definition-json.ts';
import type { Endpoint } from '../definition/endpoint.ts';
import type { Operation } from '../http/route.ts';
import {
  type AnswerText,
  type BodyText,
  DEFINITION_MEMBER,
  type OperationText,
  type ParameterText,
} from './operation-text.ts';
import { jsonSchema, textSchema } from './parameter-schema.ts';
import { rowSchema } from './row-schema.ts';
import { describeList, describeObject, describeUnion, refTo } from './schemas.ts';

const JSON_TYPE = 'application/json';

/**
 * Describes the call of one endpoint: the general description in `call`, with this endpoint's parameters and rows.
 * Parameters may be in either place; the document shows them in the query string of GET and in the body of POST.
 */
export function describeCall(endpoint: Endpoint, method: string, call: Operation): Operation {
  const { definition } = endpoint;
  const inUrl = method === 'GET' ? endpoint.declared : [];
  const text: Partial<OperationText> = {
    summary: definition.name,
    description: formatDescription(endpoint),
    parameters: [
      ...inUrl.flatMap((parameter) => parameterTexts(endpoint, parameter)),
      ...(call.parameters ?? []).filter(
        ({ name, isSet }) => isSet !== true && isOfCall(endpoint, method, name),
      ),
    ],
    body: call.body && describeBody(endpoint, call.body),
    answers: { ...call.answers, 200: describeAnswer(endpoint, call.answers[200]) },
    failures: call.failures?.filter((code) => code !== 'unknown_endpoint'),
    ...(method === 'GET' && { extensions: { [DEFINITION_MEMBER]: describeCallable(endpoint) } }),
  };
  return { ...call, ...text };
}

function formatDescription({ definition }: Endpoint): string {
  const { description, aliases, rowsMax, cacheS } = definition;
  const sentences = [
    description === '' ? '' : `${description}.`,
    `At most ${rowsMax} rows.`,
    cacheS === undefined ? '' : `Answers are kept for up to ${cacheS} s.`,
    aliases.length === 0 ? '' : `Also called ${aliases.map((name) => `\`${name}\``).join(', ')}.`,
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

/** A parameter, and the names that it falls back to if they are not parameters themselves. */
function parameterTexts(
  endpoint: Endpoint,
  parameter: ParameterDefinition,
): readonly ParameterText[] {
  const { name, from, required } = parameter;
  const schema = textSchema(parameter);
  const declared = new Set(endpoint.declared.map((other) => other.name));
  const others = from.filter((other) => !declared.has(other));
  return [
    {
      name,
      in: 'query',
      description: parameterDescription(parameter),
      schema,
      required: isRequired(parameter),
      mayBeEmpty: !required,
    },
    ...others.map(
      (other): ParameterText => ({
        name: other,
        in: 'query',
        description: `Taken where \`${name}\` is missing or empty`,
        schema,
        mayBeEmpty: true,
      }),
    ),
  ];
}

/** Whether the parameter must be given under its own name. */
function isRequired({ required, from }: ParameterDefinition): boolean {
  return required && from.length === 0;
}

function parameterDescription({ type, from, default: text }: ParameterDefinition): string {
  const sentences = [`${type}.`];
  if (type === 'timestamp') {
    sentences.push('A date, or a time without seconds, or without a zone, which is UTC, will do.');
  }
  if (from.length > 0) {
    sentences.push(
      `Where it is missing or empty: ${from.map((name) => `\`${name}\``).join(', ')}.`,
    );
  }
  if (text !== undefined && text !== '') sentences.push(`Else \`${text}\`.`);
  return sentences.join(' ');
}

/** The parameters of every call, except names that this endpoint declares itself, and the SQL that it does not accept. */
function isOfCall({ definition, parameters }: Endpoint, method: string, name: string): boolean {
  if (name === SQL_PARAMETER) return definition.isSandboxed && method === 'GET';
  return !parameters.reads(name);
}

/** The members of a JSON body; a text body is the caller's SQL. */
function describeBody({ definition, declared }: Endpoint, body: BodyText): BodyText {
  const { isSandboxed } = definition;
  const properties = Object.fromEntries([
    ...(isSandboxed ? [[SQL_PARAMETER, { type: 'string' }]] : []),
    ...declared.map((parameter) => [parameter.name, jsonSchema(parameter)]),
  ]);
  const required = declared.filter(isRequired).map(({ name }) => name);
  const json = {
    schema: { type: 'object', properties, ...(required.length > 0 && { required }) },
  };
  const others = Object.entries(body.content).filter(
    ([mediaType]) => isSandboxed && mediaType !== JSON_TYPE,
  );
  const content = Object.fromEntries([[JSON_TYPE, json], ...others]);
  return { ...body, isRequired: required.length > 0 && others.length === 0, content };
}

/** The columns of a caller's own SQL are unknown. */
function describeAnswer(
  { definition, query }: Endpoint,
  answer: AnswerText | undefined,
): AnswerText {
  const rows = describeObject({ result: describeList(rowSchema(query.bound.output)) });
  const schema = definition.isSandboxed ? describeUnion([rows, refTo('Result')]) : rows;
  const general = answer?.content?.[JSON_TYPE];
  const explained = general === undefined ? [] : [refTo('Explanation')];
  return {
    description: 'The rows',
    ...answer,
    content: { ...answer?.content, [JSON_TYPE]: { schema: describeUnion([schema, ...explained]) } },
  };
}
