import type { Peer } from './peer.ts';
import { PEERS } from './peer-list.ts';

/** Whether weir may remember: not at all; only what sealing made, for a first call; or everything. */
export type WeirMemory = 'scanned' | 'sealed' | 'repeated';

/** What is measured, in one column of the report. */
export type Measured =
  | { readonly kind: 'peer'; readonly name: string; readonly make: () => Promise<Peer> }
  | {
      readonly kind: 'weir';
      readonly name: string;
      readonly through: 'engine' | 'http';
      readonly memory: WeirMemory;
    };

const WEIR: readonly Measured[] = (['engine', 'http'] as const).flatMap((through) =>
  (['scanned', 'sealed', 'repeated'] as const).map((memory) => ({
    ...({ kind: 'weir', name: `weir-${through}-${memory}`, through, memory } as const),
  })),
);

/** Weir first: what it answers is what the others are held against. */
export const MEASURED: readonly Measured[] = [
  ...WEIR,
  ...Array.from(PEERS, ([name, make]): Measured => ({ kind: 'peer', name, make })),
];

/** The one whose data it reads: its name up to a hyphen. */
export function loadedNameOf({ name }: Measured): string {
  return name.split('-')[0]!;
}

/** The settings that say what weir may remember. */
export function memoryEnvironment(memory: WeirMemory): Readonly<Record<string, string>> {
  return memory === 'scanned' ? { MEMO_LIMIT: '0' } : {};
}

/** @throws Error when there is none of this name. */
export function mustMeasured(name: string): Measured {
  const measured = MEASURED.find((one) => one.name === name);
  if (measured === undefined) throw new Error(`there is nothing to be measured named ${name}`);
  return measured;
}
