import { statSync } from 'node:fs';
import { Traffic } from '../../src/demo/traffic/traffic.ts';
import { NOW, us } from '../scripts/script.ts';
import { ConsoleUnderTest } from './console-under-test.ts';

/**
 * Makes the picture of the console that README shows, from the traffic of the demo at a fixed time:
 *
 *   npm run build && node --import tsx test/console/picture.ts
 */

const PATH = 'docs/console.png';

/** A README is read on slow lines, too. */
const PICTURE_BYTES_MAX = 200 * 1024;

const SOURCE = 'cloudflare.logs.prod';
const EVENTS = 12_000;
const HOURS = 6;
const POSTED_EVENTS = 500;

const weir = await ConsoleUnderTest.start();
try {
  await postTraffic();
  const fragment = new URLSearchParams({
    ...{ source: SOURCE, from: `-${HOURS}h`, by: 'status_code', search: '-status_code:304' },
    columns: 'metadata.request.method,metadata.response.status_code',
  });
  const page = await weir.open({ fragment: `#/explore?${fragment}` });
  await page.setViewportSize({ width: 1200, height: 620 });
  await page.getByRole('row').nth(10).waitFor();
  await page.locator('.histogram-legend').waitFor();
  await page.locator('.histogram progress').waitFor({ state: 'hidden' });
  await page.waitForFunction('document.fonts.ready.then(() => true)');
  await page.screenshot({ path: PATH });
  await page.close();
} finally {
  await weir.close();
}
const { size } = statSync(PATH);
if (size > PICTURE_BYTES_MAX) throw new Error(`${PATH} has ${size} bytes of ${PICTURE_BYTES_MAX}`);
process.stdout.write(`${PATH}: ${size} bytes\n`);

async function postTraffic(): Promise<void> {
  const traffic = new Traffic({ seed: 1, projectCount: 12 });
  const endMs = Date.parse(NOW);
  const stepMs = (HOURS * 3_600_000) / EVENTS;
  const events = Array.from({ length: EVENTS }, (_, index) =>
    traffic.of(SOURCE, Math.floor(endMs - (EVENTS - index) * stepMs)),
  );
  for (let at = 0; at < EVENTS; at += POSTED_EVENTS) {
    const posted = JSON.stringify(events.slice(at, at + POSTED_EVENTS));
    await weir.service.postText(SOURCE, posted, us(NOW));
  }
}
