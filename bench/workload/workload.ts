import { AuthEvents } from './auth-events.ts';
import type { DrawOptions } from './draw.ts';
import type { EventMaker } from './event-maker.ts';
import { Floats } from './floats.ts';
import { FullEdgeEvents } from './full-edge-events.ts';
import { Invocations } from './invocations.ts';
import { LeanEdgeEvents } from './lean-edge-events.ts';
import { PoolerEvents } from './pooler-events.ts';
import { PostgresEvents } from './postgres-events.ts';
import { StorageEvents } from './storage-events.ts';

/** Kinds of events that the benchmarks measure with. */
export type Kind =
  | ('lean' | 'invocations' | 'full' | 'floats')
  | ('auth' | 'storage' | 'postgres' | 'pooler');

type MakerClass = new (of: DrawOptions) => EventMaker;

/** Not one of the built-in sources: to be named in SOURCES. */
export const FLOATS_SOURCE = 'bench.floats';

/** Where events of each kind are posted to, and what makes them. */
export const KINDS: ReadonlyMap<Kind, { readonly source: string; readonly Maker: MakerClass }> =
  new Map([
    ['lean', { source: 'cloudflare.logs.prod', Maker: LeanEdgeEvents }],
    ['invocations', { source: 'deno-relay-logs', Maker: Invocations }],
    ['floats', { source: FLOATS_SOURCE, Maker: Floats }],
    ['auth', { source: 'gotrue.logs.prod', Maker: AuthEvents }],
    ['storage', { source: 'storage.logs.prod.2', Maker: StorageEvents }],
    ['postgres', { source: 'postgres.logs', Maker: PostgresEvents }],
    ['pooler', { source: 'pgbouncer.logs.prod', Maker: PoolerEvents }],
    ['full', { source: 'cloudflare.logs.prod', Maker: FullEdgeEvents }],
  ]);

/** The source that events of a kind are posted to. */
export function sourceOf(kind: Kind): string {
  return KINDS.get(kind)!.source;
}

/** So many events of a kind: the same ones in every run. */
export function* events(kind: Kind, of: DrawOptions): Generator<string> {
  const { Maker } = KINDS.get(kind)!;
  const maker = new Maker(of);
  for (let event = 0; event < of.eventCount; event++) yield maker.next();
}

/** Some events: NDJSON, a line break behind each. */
export type EventBatch = { readonly text: string; readonly eventCount: number };

/** The same, some together. The last may hold fewer. */
export function* ndjson(
  kind: Kind,
  of: DrawOptions & { readonly perText: number },
): Generator<EventBatch> {
  const { Maker } = KINDS.get(kind)!;
  const maker = new Maker(of);
  for (let done = 0; done < of.eventCount; ) {
    const eventCount = Math.min(of.perText, of.eventCount - done);
    let text = '';
    for (let event = 0; event < eventCount; event++) text += `${maker.next()}\n`;
    done += eventCount;
    yield { text, eventCount };
  }
}
