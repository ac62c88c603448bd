import type { Schema } from '../openapi/operation-text.ts';
import { listOf, objectOf, refTo } from '../openapi/schemas.ts';

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
  readonly bodyOf: (sources: readonly ListedSource[]) => unknown;
  readonly schema: Schema;
};

export const SOURCE_LIST: SourceListForm = {
  bodyOf: (sources) => ({ result: sources }),
  schema: objectOf({ result: listOf(refTo('Source')) }),
};

/** As the analytics container lists them: a UUID is a token there, and an id a number. */
export const CONTAINER_SOURCE_LIST: SourceListForm = {
  bodyOf: (sources) =>
    sources.map(({ id, ...others }) => ({ id: numberOf(id), token: id, ...others })),
  schema: listOf(refTo('NumberedSource')),
};

/** The first 31 bits of a UUID, which is fixed for a name: what readers keep stays good when sources are added. */
function numberOf(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8), 16) >>> 1;
}
