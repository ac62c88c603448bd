import type { AnswerText, MediaTexts, Schema } from './operation-text.ts';
import { describeUnion } from './schemas.ts';

/** Answers by status. */
export type Answers = ReadonlyMap<number, AnswerText>;

/** The answers of an operation that may answer as either of two. */
export function mergeAnswers(first: Answers, second: Answers): Answers {
  const merged = new Map(first);
  for (const [status, answer] of second) {
    const before = merged.get(status);
    merged.set(status, before === undefined ? answer : mergeAnswer(before, answer));
  }
  return merged;
}

function mergeAnswer(first: AnswerText, second: AnswerText): AnswerText {
  const lines = new Set([...first.description.split('\n'), ...second.description.split('\n')]);
  return {
    description: [...lines].join('\n'),
    headers: { ...first.headers, ...second.headers },
    // If neither has a body, there is none.
    content:
      first.content === undefined && second.content === undefined
        ? undefined
        : mergeContent(first.content ?? {}, second.content ?? {}),
  };
}

function mergeContent(first: MediaTexts, second: MediaTexts): MediaTexts {
  const merged: Record<string, MediaTexts[string]> = { ...first };
  for (const [mediaType, text] of Object.entries(second)) {
    const before = merged[mediaType];
    merged[mediaType] =
      before === undefined ? text : { schema: describeUnion(choices(before.schema, text.schema)) };
  }
  return merged;
}

/** The alternatives of all schemas, without nested lists. */
function choices(...schemas: readonly Schema[]): readonly Schema[] {
  return schemas.flatMap((schema) => {
    const { anyOf: among, ...rest } = schema;
    return Array.isArray(among) && Object.keys(rest).length === 0 ? (among as Schema[]) : [schema];
  });
}

/** The Response Objects of a document. Hundreds of operations share a few, so each is listed once and referred to. */
export class ResponseComponents {
  readonly #names = new Map<string, string>();
  readonly #objects = new Map<string, object>();

  /** A reference to the response with this content. */
  refTo(status: number, answer: AnswerText): object {
    const object = responseObject(answer);
    const key = `${status} ${JSON.stringify(object)}`;
    let name = this.#names.get(key);
    if (name === undefined) {
      name = `Status${status}.${this.#names.size + 1}`;
      this.#names.set(key, name);
      this.#objects.set(name, object);
    }
    return { $ref: `#/components/responses/${name}` };
  }

  toObject(): object {
    return Object.fromEntries(this.#objects);
  }
}

function responseObject({ description, headers, content }: AnswerText): object {
  const described = Object.entries(headers ?? {}).map(([name, says]) => [
    name,
    { description: says, schema: { type: 'string' } },
  ]);
  return {
    description,
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
      ...Object.fromEntries(described),
    },
    ...(content !== undefined && { content }),
  };
}
