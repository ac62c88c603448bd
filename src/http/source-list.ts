import type { Schema } from '../openapi/operation-text.ts';
import { describeList, describeObject, refTo } from '../openapi/schemas.ts';

/** A source as a caller may see it; how much it holds only where the token may manage. */
type ListedSource = {
  /** Its UUID. */
  readonly id: string;
  readonly name: string;
  /** Where an event names its project. */
  readonly project: string;
  readonly events?: number;
  readonly bytes?: number;
};

/** How the sources are listed. */
export type SourceListForm = {
  readonly createBody: (sources: readonly ListedSource[]) => unknown;
  readonly schema: Schema;
};

export const SOURCE_LIST: SourceListForm = {
  createBody: (sources) => ({ result: sources }),
  schema: describeObject({ result: describeList(refTo('Source')) }),
};

/** As the analytics container lists them: a UUID is a token there, and an id a number. */
export const CONTAINER_SOURCE_LIST: SourceListForm = {
  createBody: (sources) =>
    sources.map(({ id, ...others }) => ({ id: toNumber(id), token: id, ...others })),
  schema: describeList(refTo('NumberedSource')),
};

/** The first 31 bits of a UUID, which is fixed for a name: what readers keep stays good when sources are added. */
function toNumber(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8), 16) >>> 1;
}
