import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { NOW, us } from '../scripts/script.ts';
import { ConsoleUnderTest, checkAccessible, checkFits, LOOKS } from './console-under-test.ts';
import { missingBrowser } from './playwright.ts';

const NOW_US = us(NOW);

/** How fast a clock goes that need not be waited for. */
const HURRY = 20;

suite('the service in the console', { skip: missingBrowser() }, () => {
  let weir: ConsoleUnderTest;

  before(async () => {
    weir = await ConsoleUnderTest.start({ SOURCES: 'app.logs:metadata.tenant' });
    const events = [
      { event_message: 'lost' },
      { id: 'e1', event_message: '<b>kept</b>', metadata: { tenant: 'alpha' } },
    ];
    await weir.service.post('app.logs', events, NOW_US);
    await weir.service.call('logs.all', { project: 'alpha' }, NOW_US);
  });

  after(() => weir.close());

  afterEach(() => weir.closePages());

  test('shows what sources hold and how saved queries are called', async () => {
    const page = await weir.open({ fragment: '#/service' });
    const sources = page.getByRole('region', { name: 'Sources' });
    await sources.getByRole('row', { name: /^app\.logs metadata\.tenant 2 / }).waitFor();
    const calls = page.getByRole('region', { name: 'Calls within the last hour' });
    await calls.getByRole('row', { name: /^logs\.all 1 0 / }).waitFor();
    await page.getByText('ok', { exact: true }).waitFor();
  });

  test('says why somebody does not see their logs, with an event as it is stored', async () => {
    const page = await weir.open({ fragment: '#/service' });
    await page.getByRole('tab', { name: 'Why don’t I see my logs?' }).click();
    await page.getByRole('heading', { name: 'Token private at /api/logs' }).waitFor();
    await page.getByText('without a project in the field metadata.tenant').waitFor();
    await page.getByText(/^Last event: source app\.logs, project alpha/).click();
    await page.getByText('<b>kept</b>').waitFor();
    assert.ok(page.url().endsWith('#/service?tab=posts'), page.url());
  });

  test('makes a token that is shown once, and revokes it', async () => {
    const page = await weir.open({ fragment: '#/service?tab=tokens' });
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByLabel('Name').fill('grafana');
    await page.keyboard.press('Enter');
    const made = page.getByRole('dialog', { name: 'The token grafana' });
    const text = await made.locator('.made-token').innerText();
    const asked = await weir.service.ask('GET', '/api/token', undefined, { 'X-API-KEY': text });
    assert.equal(asked.status, 200);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Revoke grafana' }).click();
    await page.getByRole('button', { name: 'Revoke it' }).click();
    await page.getByRole('button', { name: 'Revoke grafana' }).waitFor({ state: 'hidden' });
    const refused = await weir.service.ask('GET', '/api/token', undefined, { 'X-API-KEY': text });
    assert.equal(refused.status, 401);
  });

  test('shows memory against its budget, charts of the last hour, and what is wrong', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weir-definitions-'));
    await writeFile(join(folder, 'broken.sql'), 'SELECT 1');
    const environment = { MEMORY_LIMIT: '1GiB', ENDPOINTS_DIR: folder };
    // The service notes a point of its history each ten seconds.
    const other = await ConsoleUnderTest.start(environment, () => HURRY * performance.now());
    try {
      const page = await other.open({ fragment: '#/service' });
      await page.getByText(/^[\d.]+ MiB of 1\.0 GiB$/).waitFor();
      const wrong = page.getByRole('list', { name: 'What is wrong' });
      await wrong.getByText('definitions_not_in_force').waitFor();
      for (const title of ['Posts and calls in', 'Time of calls', 'Memory', 'Events stored in']) {
        await page.getByRole('img', { name: new RegExp(`^${title}`) }).waitFor();
      }
      await checkAccessible(page);
    } finally {
      await other.close();
      await rm(folder, { recursive: true });
    }
  });

  test('is not offered to a token that may not manage', async () => {
    const body = JSON.stringify({ name: 'reader', scopes: ['query'] });
    const { text } = await weir.service.ask('POST', '/api/tokens', body);
    const { token } = JSON.parse(text).result;
    const page = await weir.open({ fragment: '#/service', token });
    await page.getByText('Your token may not open this view').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Service' }).count(), 0);
  });

  for (const { width, colorScheme } of LOOKS) {
    test(`fits and can be used by everybody: ${width} pixels, ${colorScheme}`, async () => {
      for (const tab of ['overview', 'posts', 'tokens']) {
        const fragment = `#/service?tab=${tab}`;
        const page = await weir.open({ width, colorScheme, fragment });
        await page.locator('.service .tab-panel > *').first().waitFor();
        await page.locator('.loading').waitFor({ state: 'hidden' });
        await checkFits(page);
        await checkAccessible(page);
        await page.close();
      }
    });
  }
});
