import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

type Json = Readonly<Record<string, unknown>>;

type MediaTypeObject = { readonly schema: Json; readonly example?: unknown };

type ResponseObject = {
  readonly description: string;
  readonly headers?: Json;
  readonly content?: Readonly<Record<string, MediaTypeObject>>;
};

export type ParameterObject = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly allowEmptyValue?: boolean;
  readonly explode?: boolean;
  readonly schema: Json;
};

type OperationObject = {
  readonly summary: string;
  readonly operationId: string;
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, MediaTypeObject>>;
  };
  readonly responses: Readonly<Record<string, { readonly $ref: string }>>;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
};

/** What an OpenAPI document says, as far as tests look into it. */
export type DocumentText = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly securitySchemes: Json;
  };
};

/** An operation of a document, and where it stands. */
export type DocumentedOperation = {
  readonly path: string;
  /** In capitals. */
  readonly method: string;
  readonly object: OperationObject;
};

/** What came back, as far as a document speaks of it. */
export type GivenAnswer = {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly text: string;
};

type Check = (value: unknown) => string | undefined;

/** An OpenAPI document that answers are held against. */
export class ApiDocument {
  readonly text: DocumentText;
  readonly operations: readonly DocumentedOperation[];
  readonly #ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
  readonly #checks = new Map<object, Check>();

  constructor(text: DocumentText) {
    this.text = text;
    addFormats.default(this.#ajv);
    this.#ajv.addSchema({ $id: 'document', $defs: inDocument(text.components.schemas) });
    this.operations = Object.entries(text.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, object]) => ({
        path,
        method: method.toUpperCase(),
        object,
      })),
    );
  }

  /** All responses of an operation, by status. */
  responses({ object }: DocumentedOperation): ReadonlyMap<number, ResponseObject> {
    return new Map(
      Object.entries(object.responses).map(([status, { $ref }]) => [
        Number(status),
        this.text.components.responses[$ref.replace('#/components/responses/', '')]!,
      ]),
    );
  }

  /** What is wrong with a value; `undefined` when the schema takes it. */
  problemOf(schema: Json, value: unknown): string | undefined {
    let check = this.#checks.get(schema);
    if (check === undefined) {
      const validate = this.#ajv.compile(inDocument(schema) as Json);
      check = (tested) =>
        validate(tested) ? undefined : this.#ajv.errorsText(validate.errors, { separator: '\n' });
      this.#checks.set(schema, check);
    }
    return check(value);
  }

  /** What of an answer the operation does not say; `undefined` when it says all. */
  answerProblem(operation: DocumentedOperation, answer: GivenAnswer): string | undefined {
    const { status, contentType, text } = answer;
    const response = this.responses(operation).get(status);
    if (response === undefined) return `the status ${status} is not documented`;
    if (text === '' && contentType === undefined) {
      return response.content === undefined ? undefined : `${status} has no body`;
    }
    const mediaType = contentType?.split(';')[0] ?? '';
    const media = response.content?.[mediaType];
    if (media === undefined) return `${status} is not documented in ${JSON.stringify(mediaType)}`;
    const isJson = mediaType.endsWith('json') && !mediaType.endsWith('ndjson');
    const problem = this.problemOf(media.schema, isJson ? JSON.parse(text) : text);
    return problem === undefined ? undefined : `${status}: ${problem}`;
  }
}

/** The same schema with references into what the validator calls `document`. */
function inDocument(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inDocument);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === '$ref' && typeof member === 'string'
        ? member.replace('#/components/schemas/', 'document#/$defs/')
        : inDocument(member),
    ]),
  );
}
