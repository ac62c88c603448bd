import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GAUGE_RESIDENT, KIB, newMemoryGauge } from '../../engine/column/segment-backing.ts';
import { bytesReadInParts } from '../../engine/column/segment-image.ts';
import { readSegment } from '../../engine/column/segment-reader.ts';
import { edgeEvents } from './edge-events.ts';
import { inFolder, ROOM_FOR_ALL, rowsOfProject, sealedOf, stored } from './stored-segment.ts';

test('columns are read whole once parts of them came to as much as the segment, where there is room', async () => {
  await inFolder(async (folder) => {
    const events = edgeEvents(10_000, 6).map((event, n) => ({ ...event, project: `p${n % 20}` }));
    const buffer = sealedOf(events);
    const gauge = newMemoryGauge(ROOM_FOR_ALL);
    const handle = await stored(folder, buffer, gauge);
    let extractCount = 0;
    for (let n = 0; n < 40; n++) {
      const segment = readSegment(handle);
      const own = segment.ofProject!(`p${n % 20}`);
      extractCount += Number(own !== segment);
      rowsOfProject(own, `p${n % 20}`);
    }
    assert.ok(extractCount > 1 && extractCount < 40, `${extractCount} of 40`);
    const { backing } = handle;
    const residentSize = gauge[GAUGE_RESIDENT]! * KIB;
    assert.ok(residentSize > buffer.byteLength / 2, `${residentSize} of ${buffer.byteLength}`);
    assert.ok(bytesReadInParts(backing!) < buffer.byteLength);
  });
});
