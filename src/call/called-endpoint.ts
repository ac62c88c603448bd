import type { Catalogue } from '../definition/catalogue.ts';
import type { Endpoint } from '../definition/endpoint.ts';
import { ANSWER_FORMATS, type AnswerFormat } from './answer-format.ts';

/** The endpoint and format that a path names. */
export type CalledEndpoint = {
  readonly endpoint: Endpoint;
  /** Present if the path ends in the name of a format. */
  readonly format?: AnswerFormat;
};

/**
 * Finds the endpoint that the last part of a path names: by id or name, optionally followed by a
 * dot and a format. An endpoint whose own name has such an ending takes precedence.
 */
export function findCalled(catalogue: Catalogue, text: string): CalledEndpoint | undefined {
  const endpoint = catalogue.find(text);
  if (endpoint !== undefined) return { endpoint };
  const format = ANSWER_FORMATS.find(({ name }) => text.endsWith(`.${name}`));
  if (format === undefined) return undefined;
  const named = catalogue.find(text.slice(0, -format.name.length - 1));
  return named && { endpoint: named, format };
}
