import type { Catalogue } from '../definition/catalogue.ts';
import type { Endpoint } from '../definition/endpoint.ts';
import { ANSWER_FORMATS, type AnswerFormat } from './answer-format.ts';

/** What a path calls. */
export type CalledEndpoint = {
  readonly endpoint: Endpoint;
  /** There where the path's end names one. */
  readonly format?: AnswerFormat;
};

/**
 * The endpoint that the last part of a path names: by id or name, with the name of a format behind a
 * point or without. An endpoint whose own name ends so goes first.
 */
export function findCalled(catalogue: Catalogue, text: string): CalledEndpoint | undefined {
  const endpoint = catalogue.find(text);
  if (endpoint !== undefined) return { endpoint };
  const format = ANSWER_FORMATS.find(({ name }) => text.endsWith(`.${name}`));
  if (format === undefined) return undefined;
  const named = catalogue.find(text.slice(0, -format.name.length - 1));
  return named && { endpoint: named, format };
}
