import { barText, figuresOf } from '../measure.ts';
import { type GroupResult, readOf, timesOf } from './asking.ts';
import type { Endpoint, LargeCalls, Rank } from './calls.ts';
import type { EngineResult } from './engine-result.ts';

/** What calls of projects that were not asked before are to reach, by endpoint. */
const FIRST_BARS: ReadonlyMap<
  Endpoint,
  {
    readonly p50Ms?: number;
    readonly sqliteRatio?: number;
    readonly p99Ms: number;
    readonly readBytes: number;
    /** May read more: its rows are many. */
    readonly except?: Rank;
  }
> = new Map([
  ['logs.all', { sqliteRatio: 2, p99Ms: 25, readBytes: 2e6 }],
  ['invocation-stats', { p50Ms: 5, p99Ms: 50, readBytes: 4e6, except: 'busiest' as const }],
  ['api-counts', { p50Ms: 5, p99Ms: 50, readBytes: 4e6, except: 'busiest' as const }],
]);

/** Tables in Markdown, weir first. */
export function tablesOf(weir: EngineResult, peers: readonly EngineResult[]): string {
  return [
    `projects not asked before: p50 / p99 / max in ms; bytes read by a call, p50 / max, in MB\n`,
    tableOf(weir.first, peers, (peer) => peer.first),
    `\nthe busiest project in all windows\n`,
    tableOf(weir.busiest, peers, (peer) => peer.busiest),
    '',
  ].join('\n');
}

/** What was reached, a line for each bar. */
export function barsOf(
  calls: LargeCalls,
  weir: EngineResult,
  peers: readonly EngineResult[],
): string {
  return [...firstBars(calls, weir, peers), ...busiestBar(weir, peers)].join('\n');
}

function tableOf(
  groups: readonly GroupResult[],
  peers: readonly EngineResult[],
  groupsOf: (peer: EngineResult) => readonly GroupResult[],
): string {
  const lines = [
    ['calls', 'rows', 'weir', 'read', ...peers.flatMap(({ name }) => [name, 'read', 'weir ÷'])],
  ];
  lines.push(lines[0]!.map(() => '---'));
  for (const [index, group] of groups.entries()) {
    const rows = `${Math.min(...group.rowCounts)} to ${Math.max(...group.rowCounts)}`;
    const cells = [group.name, rows, timesOf(group), readOf(group)];
    for (const peer of peers) {
      const other = groupsOf(peer)[index]!;
      cells.push(timesOf(other), readOf(other), ratioOf(group, other).toFixed(2));
    }
    lines.push(cells);
  }
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function ratioOf(group: GroupResult, other: GroupResult): number {
  return figuresOf(group.ms).p50 / figuresOf(other.ms).p50;
}

function firstBars(
  calls: LargeCalls,
  weir: EngineResult,
  peers: readonly EngineResult[],
): readonly string[] {
  const sqlite = peers.find(({ name }) => name === 'SQLite');
  return Array.from(FIRST_BARS).flatMap(([endpoint, bars]) => {
    const indexes = calls.first.flatMap((group, index) =>
      group.endpoint === endpoint ? [index] : [],
    );
    const groups = indexes.map((index) => weir.first[index]!);
    const p50Ms = Math.max(...groups.map(({ ms }) => figuresOf(ms).p50));
    const p99Ms = Math.max(...groups.map(({ ms }) => figuresOf(ms).p99));
    const counted = indexes.filter((index) => calls.first[index]!.rank !== bars.except);
    const readBytes = Math.max(...counted.flatMap((index) => weir.first[index]!.readBytes));
    const lines = [
      `${endpoint}: p99 at most ${p99Ms.toFixed(1)} ms ${barText(`<= ${bars.p99Ms} ms`, p99Ms <= bars.p99Ms)}`,
      `${endpoint}: ${(readBytes / 1e6).toFixed(2)} MB read at most${bars.except ? ` but for the ${bars.except}` : ''} ` +
        barText(`<= ${bars.readBytes / 1e6} MB`, readBytes <= bars.readBytes),
    ];
    if (bars.p50Ms !== undefined) {
      const bar = barText(`<= ${bars.p50Ms} ms`, p50Ms <= bars.p50Ms);
      lines.unshift(`${endpoint}: p50 at most ${p50Ms.toFixed(1)} ms ${bar}`);
    }
    if (bars.sqliteRatio !== undefined && sqlite !== undefined) {
      const ratio = Math.max(
        ...indexes.map((index) => ratioOf(weir.first[index]!, sqlite.first[index]!)),
      );
      const bar = barText(`<= ${bars.sqliteRatio}`, ratio <= bars.sqliteRatio);
      lines.unshift(`${endpoint}: p50 at most ${ratio.toFixed(2)} times SQLite's ${bar}`);
    }
    return lines;
  });
}

/** In each window the fastest peer counts. */
function busiestBar(weir: EngineResult, peers: readonly EngineResult[]): readonly string[] {
  if (peers.length === 0) return [];
  const slower = weir.busiest.filter((group, index) =>
    peers.some((peer) => ratioOf(group, peer.busiest[index]!) > 1),
  );
  const names = slower.map(({ name }) => name).join(', ');
  return [
    `the busiest project: slower than the best peer in ${slower.length} windows` +
      `${names === '' ? '' : ` (${names})`} ${barText('0', slower.length === 0)}`,
  ];
}

/** Sentences that say where two engines answered differently, one for each group. */
export function differencesOf(weir: EngineResult, peer: EngineResult): readonly string[] {
  const groups = [...weir.first, ...weir.busiest];
  const others = [...peer.first, ...peer.busiest];
  return groups.flatMap((group, index) => {
    const other = others[index]!;
    const differing = group.digests.filter((digest, call) => {
      const theirs = other.digests[call];
      return digest !== undefined && theirs !== undefined && digest !== theirs;
    }).length;
    return differing === 0
      ? []
      : [`${peer.name}: ${group.name}: ${differing} of ${group.digests.length} answers differ`];
  });
}
