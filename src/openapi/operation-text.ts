import type { ErrorCode } from '../errors.ts';

/** A JSON Schema 2020-12, as in OpenAPI 3.1. */
export type Schema = Readonly<Record<string, unknown>>;

/** Groups of operations, in the order of the document. */
export const TAGS = {
  calls: 'Saved queries are called; what comes back are rows',
  queries: 'SQL that is not saved',
  definitions: 'The saved queries themselves',
  posting: 'Post logs, with a receiver for each format',
  sources: 'The named streams that logs are stored in',
  tokens: 'Access tokens and their rights',
  watching: 'For operators of the service',
} as const;

type Tag = keyof typeof TAGS;

/** A body or an answer of one media type. */
export type MediaText = { readonly schema: Schema; readonly example?: unknown };

/** Bodies by media type, without parameters. */
export type MediaTexts = Readonly<Record<string, MediaText>>;

/** A parameter of the query string, or a header. Path parameters are described by their route. */
export type ParameterText = {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly description: string;
  readonly schema: Schema;
  readonly required?: boolean;
  /** Whether an empty text may be given, which counts as no value. */
  readonly mayBeEmpty?: boolean;
  readonly example?: unknown;
  /** Whether it stands for any number of parameters: the members of an object. */
  readonly isSet?: boolean;
};

export type BodyText = {
  readonly isRequired: boolean;
  readonly description?: string;
  readonly content: MediaTexts;
  /** Whether it may not be compressed. */
  readonly isPlain?: boolean;
};

/** An answer that is not one of the failures of every operation. */
export type AnswerText = {
  readonly description: string;
  /** Absent if the answer has no body. */
  readonly content?: MediaTexts | undefined;
  /** Descriptions by header name. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** The member of the call of a definition that says what a caller needs to know of it: its names and parameters. */
export const DEFINITION_MEMBER = 'x-weir-definition';

/** The description of an operation for its users. */
export type OperationText = {
  /** A few words, without a final stop. */
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
  readonly parameters?: readonly ParameterText[];
  readonly body?: BodyText | undefined;
  /** Answers by status. */
  readonly answers: Readonly<Record<number, AnswerText>>;
  /** Codes beyond those that follow from the access, the body and the service's state. */
  readonly failures?: readonly ErrorCode[] | undefined;
  /** Members that OpenAPI does not define. */
  readonly extensions?: Readonly<Record<`x-${string}`, unknown>>;
};

/** Schemas of failures by media type, given the possible codes. */
export type FailureSchemas = Readonly<Record<string, (codes: readonly ErrorCode[]) => Schema>>;
