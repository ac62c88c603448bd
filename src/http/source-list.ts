import type { Schema } from '../openapi/operation-text.ts';
import { describeList, describeObject, refTo } from '../openapi/schemas.ts';

/** A listed source. Its size is included only for tokens that may manage. */
type ListedSource = {
  /** Its UUID. */
  readonly id: string;
  readonly name: string;
  /** The path of an event's project. */
  readonly project: string;
  readonly events?: number;
  readonly bytes?: number;
};

/** The format of the list of sources. */
export type SourceListForm = {
  readonly createBody: (sources: readonly ListedSource[]) => unknown;
  readonly schema: Schema;
};

export const SOURCE_LIST: SourceListForm = {
  createBody: (sources) => ({ result: sources }),
  schema: describeObject({ result: describeList(refTo('Source')) }),
};

/** The format of the analytics container, where the UUID is a token and the id a number. */
export const CONTAINER_SOURCE_LIST: SourceListForm = {
  createBody: (sources) =>
    sources.map(({ id, ...others }) => ({ id: toNumber(id), token: id, ...others })),
  schema: describeList(refTo('NumberedSource')),
};

/**
 * The first 31 bits of a UUID, which follows from the name, so numbers do not change when sources
 * are added.
 */
function toNumber(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8), 16) >>> 1;
}
