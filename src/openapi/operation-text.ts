import type { ErrorCode } from '../errors.ts';

/** A schema of JSON Schema 2020-12, as OpenAPI 3.1 takes it. */
export type Schema = Readonly<Record<string, unknown>>;

/** Groups of operations, in the order a reader meets them. */
export const TAGS = {
  calls: 'Saved queries are called; what comes back are rows',
  definitions: 'The saved queries themselves',
  posting: 'Logs are posted, each format at a door of its own',
  sources: 'The named streams that logs are stored in',
  tokens: 'Who may do what',
  watching: 'For whoever runs the service',
} as const;

type Tag = keyof typeof TAGS;

/** A body, or an answer, of one media type. */
export type MediaText = { readonly schema: Schema; readonly example?: unknown };

/** By media type, without parameters. */
export type MediaTexts = Readonly<Record<string, MediaText>>;

/** A parameter of the query string, or a header. Those of the path stand at its route. */
export type ParameterText = {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly description: string;
  readonly schema: Schema;
  readonly required?: boolean;
  /** Whether an empty text may be given, which is no value. */
  readonly mayBeEmpty?: boolean;
  readonly example?: unknown;
  /** Whether it stands for any number of parameters, the members of an object. */
  readonly isSet?: boolean;
};

export type BodyText = {
  readonly isRequired: boolean;
  readonly description?: string;
  readonly content: MediaTexts;
};

/** An answer that is not one of the failures every operation may have. */
export type AnswerText = {
  readonly description: string;
  /** Without it the answer has no body. */
  readonly content?: MediaTexts | undefined;
  /** What they say, by their names. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** What is told of an operation to those who want to use it. */
export type OperationText = {
  /** A few words, without a stop. */
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
  readonly parameters?: readonly ParameterText[];
  readonly body?: BodyText | undefined;
  /** By status. */
  readonly answers: Readonly<Record<number, AnswerText>>;
  /** Codes beyond those that follow from the access, the body and the service's own state. */
  readonly failures?: readonly ErrorCode[] | undefined;
};

/** How failures are told, by media type: the schema of one that has any of these codes. */
export type FailureSchemas = Readonly<Record<string, (codes: readonly ErrorCode[]) => Schema>>;
