import type { EventKey } from '../../api/explore.ts';
import { changeParameters, route } from '../../state/route.ts';
import type { Zone } from './event-time.ts';
import { formatPaths, parsePaths } from './field-path.ts';
import { parseRequestKey, type RequestKey } from './request-key.ts';
import { addCondition, type SearchedValue } from './search-text.ts';

/** What the fragment says of this view. */
export type ExplorePlace = {
  readonly project: string;
  readonly from: string;
  readonly to: string;
  readonly search: string;
  /** The field by which the bars are stacked; empty for none. */
  readonly by: string;
  /** Paths of the fields that have a column. */
  readonly columns: readonly string[];
  /** Paths of the fields that stay at the top of the list at the side. */
  readonly pins: readonly string[];
  readonly zone: Zone;
  /** How the rows of the list are drawn. */
  readonly rows: RowKind;
  /** Whether events are shown as they come. */
  readonly isLive: boolean;
  /** The event whose neighbours are shown. */
  readonly around: EventKey | undefined;
  /** The request whose events are shown, and a time at which it was. */
  readonly request: { readonly key: RequestKey; readonly at: number } | undefined;
};

/** One line, one line of less height, or as many lines as its text needs. */
export type RowKind = 'plain' | 'dense' | 'wrapped';

const ROW_KINDS: readonly RowKind[] = ['plain', 'dense', 'wrapped'];

const FROM = '-1h';
const TO = 'now';

export function readPlace(parameters: Readonly<Record<string, string>>): ExplorePlace {
  const text = (name: string): string => parameters[name] ?? '';
  const key = parseRequestKey(text('request'));
  return {
    project: text('project'),
    from: text('from') || FROM,
    to: text('to') || TO,
    search: text('search'),
    by: text('by'),
    columns: parsePaths(text('columns')),
    pins: parsePaths(text('pins')),
    zone: text('time') === 'local' ? 'local' : 'UTC',
    rows: ROW_KINDS.find((kind) => kind === text('rows')) ?? 'plain',
    isLive: text('live') === '1',
    around: parseEventKey(text('around')),
    request: key && /^-?\d{1,16}$/.test(text('at')) ? { key, at: Number(text('at')) } : undefined,
  };
}

/** An event in the fragment: its timestamp, a dot and its id. */
export function formatEventKey({ timestamp, id }: EventKey): string {
  return `${timestamp}.${id}`;
}

function parseEventKey(text: string): EventKey | undefined {
  const [, timestamp, id] = /^(-?\d{1,16})\.(.*)$/s.exec(text) ?? [];
  return timestamp === undefined ? undefined : { timestamp: Number(timestamp), id: id! };
}

export type SearchedField = {
  readonly path: string;
  readonly value: SearchedValue;
  /** Whether events with the value are wanted, or those without. */
  readonly isWanted: boolean;
  /** Where the list is not one of a single source. */
  readonly source?: string | undefined;
};

/** Adds a condition to the search. */
export function searchField({ path, value, isWanted, source }: SearchedField): void {
  const { search } = readPlace(route.peek().parameters);
  changeParameters({
    ...(source !== undefined && { source }),
    ...{ search: addCondition(search, path, value, isWanted), request: undefined },
  });
}

/** Adds a column, or takes it away. */
export function switchColumn(path: string): void {
  switchPath('columns', path);
}

/** Has a field stay at the top of the list at the side, or no longer. */
export function switchPin(path: string): void {
  switchPath('pins', path);
}

function switchPath(list: 'columns' | 'pins', path: string): void {
  const paths = readPlace(route.peek().parameters)[list];
  const others = paths.filter((one) => one !== path);
  const isThere = others.length < paths.length;
  changeParameters({ [list]: formatPaths(isThere ? others : [...paths, path]) }, 'replace');
}
