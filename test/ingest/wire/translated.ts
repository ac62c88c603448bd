import { MemoryPool } from '../../../ingest/memory-pool.ts';
import { translateBody, type WireBody, type WireFormat } from '../../../ingest/wire/wire-format.ts';

const NOW_US = Date.parse('2026-01-15T12:00:00Z') * 1000;

/** The events of a body, as JavaScript has them; those for an address of their own under it. */
export async function translated<Notes>(
  format: WireFormat<Notes>,
  body: string | Uint8Array,
  options: Partial<WireBody> = {},
): Promise<{
  readonly events: readonly unknown[];
  readonly bodyAddress: string | undefined;
  readonly isRepaired: boolean;
  readonly byAddress: ReadonlyMap<string | undefined, readonly unknown[]>;
  readonly notes: Notes;
}> {
  const { events, notes } = await translateBody(format, {
    pieces: [Buffer.from(body)],
    mediaType: 'application/json',
    headers: {},
    query: new Map(),
    nowUs: NOW_US,
    newId: () => 'new',
    memory: new MemoryPool(0).lend(),
    ...options,
  });
  const byAddress = new Map<string | undefined, readonly unknown[]>();
  for (const [index, address] of events.addresses.entries()) {
    const pieces = await events.body(events.listOrdinals([index]));
    byAddress.set(address, JSON.parse(Buffer.concat(pieces).toString()) as unknown[]);
  }
  return {
    events: [...byAddress.values()].flat(),
    bodyAddress: events.bodyAddress,
    isRepaired: events.isRepaired,
    byAddress,
    notes,
  };
}
