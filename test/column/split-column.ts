import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import type { SplitBlock } from '../../engine/column/vector.ts';
import { batchOf } from './batch-of.ts';

/** A sealed column of strings taken apart, and its strings. */
export type SplitColumn = { readonly split: SplitBlock; readonly values: readonly string[] };

/** Those columns of sealed records that are taken apart. */
export function splitColumn(
  records: readonly { readonly url: string; readonly path: string }[],
): SplitColumn[] {
  const segment = new OpenSegment({ id: 1, arrivalBase: 0 });
  const batch = batchOf(records.map((metadata, row) => ({ timestampUs: row, metadata })));
  segment.append(batch, 0, batch.rowCount);
  segment.publish();
  const reader = SealedSegmentReader.open(sealSegment(segment.handle(), { partitionUs: 1e17 })[0]!);
  const rows = Int32Array.from(records.keys());
  const roots = reader.roots(rows, rows.length);
  const metadata = roots.source.field(roots, 'metadata');
  if (metadata.kind !== 'nested') return [];
  return (['url', 'path'] as const).flatMap((name) => {
    const vector = metadata.source.field(metadata, name);
    const split = vector.kind === 'dictionary' ? vector.dictionary.split : undefined;
    if (split === undefined || vector.kind !== 'dictionary') return [];
    const { codes, dictionary } = vector;
    const values: string[] = [];
    for (const code of codes) values[code] = dictionary.value(code) as string;
    return [{ split, values }];
  });
}
