import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { NOW, us } from '../scripts/script.ts';
import { ConsoleUnderTest, checkAccessible, checkFits, LOOKS } from './console-under-test.ts';
import { missingBrowser, type Page } from './playwright.ts';

const NOW_US = us(NOW);

/** Milliseconds that somebody needs at least to see what a list offers. */
const READING_MS = 200;

const BY_MINUTE = `SELECT TIMESTAMP_TRUNC(t.timestamp, MINUTE) AS minute, COUNT(*) AS n
FROM \`app.logs\` AS t WHERE t.project = @project GROUP BY minute ORDER BY minute`;

function fragmentOf(sql: string, more: Readonly<Record<string, string>> = {}): string {
  return `#/query?${new URLSearchParams({ sql, ...more })}`;
}

suite('a query in the console', { skip: missingBrowser() }, () => {
  let weir: ConsoleUnderTest;

  before(async () => {
    weir = await ConsoleUnderTest.start({ SOURCES: 'app.logs:project' });
    const events = Array.from({ length: 120 }, (_, index) => ({
      event_message: `message ${index}`,
      timestamp: NOW_US - index * 1_000_000,
      project: 'alpha',
    }));
    await weir.service.post('app.logs', events, NOW_US);
  });

  after(() => weir.close());

  afterEach(() => weir.closePages());

  const run = (page: Page) => page.getByRole('button', { name: 'Run' }).click();

  test('is typed with completion, run by Ctrl+Enter, and kept in the address', async () => {
    const page = await weir.open({ fragment: '#/query' });
    await page.getByLabel('SQL').click();
    await page.keyboard.type('SELECT COUNT(*) AS n FROM `app');
    await page.getByRole('option', { name: /^app\.logs/ }).waitFor();
    // Keys that are pressed before anybody could have read a list are meant for the text.
    await setTimeout(READING_MS);
    await page.keyboard.press('Enter');
    await page.keyboard.type('`');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('cell', { name: '120', exact: true }).waitFor();
    assert.ok(page.url().includes('sql=SELECT+COUNT'), page.url());
  });

  test('has a field for each parameter, a chart, and a plan with the time of each operator', async () => {
    const page = await weir.open({ fragment: fragmentOf(BY_MINUTE) });
    await page.getByLabel('@project', { exact: true }).fill('alpha');
    await run(page);
    await page.getByRole('tab', { name: '3 rows' }).waitFor();
    await page.getByRole('tab', { name: 'Chart' }).click();
    await page.getByRole('img', { name: /^By time: n / }).waitFor();
    await page.getByRole('tab', { name: 'Plan' }).click();
    await page
      .getByText(/^scan .*app\.logs/)
      .first()
      .waitFor();
    assert.ok(page.url().includes('p.project=STRING%3Aalpha'), page.url());
  });

  test('shows an error at its place, and takes it away when the text changes', async () => {
    const page = await weir.open({ fragment: fragmentOf('SELECT nowhere(1) FROM `app.logs`') });
    await run(page);
    await page.getByRole('alert').waitFor();
    await page.locator('.cm-lintRange-error').waitFor();
    assert.equal(await page.locator('.cm-lintRange-error').innerText(), 'nowhere');
    await page.getByLabel('SQL').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' ');
    await page.locator('.cm-lintRange-error').waitFor({ state: 'hidden' });
  });

  test('typing over a selection keeps to the policy for content', async () => {
    const page = await weir.open({ fragment: fragmentOf('SELECT nowhere(1) FROM `app.logs`') });
    await run(page);
    await page.locator('.cm-lintRange-error').waitFor();
    await page.getByLabel('SQL').click();
    // Over a word that is marked as wrong, over words of several colours, and while names are offered.
    await page.locator('.cm-lintRange-error').dblclick();
    await page.keyboard.type('COUNT');
    await page
      .getByRole('option', { name: /^COUNT/ })
      .first()
      .waitFor();
    await page.keyboard.press('Shift+Home');
    await page.keyboard.type('SELECT a');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('S');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('SELECT 1 AS n');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('cell', { name: '1', exact: true }).waitFor();
    weir.checkWrongs();
  });

  test('a selection is run alone', async () => {
    const page = await weir.open({ fragment: fragmentOf('SELECT 7 AS n UNION ALL SELECT 8') });
    await page.getByLabel('SQL').click();
    await page.keyboard.press('Control+Home');
    for (const _ of 'SELECT 7 AS n') await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('cell', { name: '7', exact: true }).waitFor();
    assert.equal(await page.locator('tbody tr').count(), 1);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('cell', { name: '8', exact: true }).waitFor();
  });

  test('rows are sorted by a column, columns get other widths, long values and records are opened', async () => {
    const sql = `SELECT n, IF(n = 2, REPEAT('long ', 100), 'short') AS word, STRUCT(n AS inside) AS record
FROM UNNEST([3, 1, 2]) AS n WITH OFFSET AS place ORDER BY place`;
    const page = await weir.open({ fragment: fragmentOf(sql) });
    await run(page);
    await page.getByRole('cell', { name: '3', exact: true }).waitFor();
    const numbers = () => page.locator('tbody td:first-child').allInnerTexts();
    const heading = (name: string) => page.getByRole('columnheader', { name });
    const sort = () => heading('n').getByRole('button').click();
    const orders = [
      ['1', '2', '3'],
      ['3', '2', '1'],
      ['3', '1', '2'],
    ];
    for (const order of orders) {
      await sort();
      assert.deepEqual(await numbers(), order);
    }

    const widthOf = async (name: string) => (await heading(name).boundingBox())!.width;
    const before = await widthOf('word');
    const handle = page.getByRole('separator', { name: 'Width of word' });
    await handle.focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    assert.equal(Math.round((await widthOf('word')) - before), -32);
    const { x, y, width, height } = (await handle.boundingBox())!;
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width / 2 - 100, y + height / 2, { steps: 5 });
    await page.mouse.up();
    assert.equal(Math.round((await widthOf('word')) - before), -132);
    await checkAccessible(page);
    await handle.dblclick();
    assert.equal(Math.round(await widthOf('word')), Math.round(before));

    await page.getByRole('button', { name: /^long long/ }).click();
    const word = page.getByRole('dialog', { name: 'word' });
    assert.equal((await word.locator('.record-value').innerText()).trim().length, 499);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: '{"inside":3}' }).click();
    await page.getByRole('dialog', { name: 'record' }).getByText('inside').waitFor();
    await checkAccessible(page);
  });

  test('numbers by a text are bars', async () => {
    const sql = `SELECT IF(MOD(n, 2) = 0, 'even', 'odd') AS kind, COUNT(*) AS count
FROM UNNEST(GENERATE_ARRAY(1, 5)) AS n GROUP BY kind`;
    const page = await weir.open({ fragment: fragmentOf(sql) });
    await run(page);
    await page.getByRole('tab', { name: 'Chart' }).click();
    await page.getByRole('heading', { name: 'count by kind' }).waitFor();
    const bar = (name: string) => page.getByRole('meter', { name }).getAttribute('value');
    assert.deepEqual([await bar('even'), await bar('odd')], ['2', '3']);
    await checkAccessible(page);
  });

  test('is cancelled when a person wants it', async () => {
    const sql =
      'SELECT COUNT(*) AS n FROM UNNEST(GENERATE_ARRAY(1, 1000000)) AS a, UNNEST(GENERATE_ARRAY(1, 1000000)) AS b WHERE MOD(a * b, 7) = 3';
    const page = await weir.open({ fragment: fragmentOf(sql) });
    await run(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('The query was cancelled').waitFor();
  });

  test('is found in the history, and saved as an endpoint with its parameters', async () => {
    const page = await weir.open({
      fragment: fragmentOf(BY_MINUTE, { 'p.project': 'STRING:alpha' }),
    });
    await run(page);
    await page.getByRole('tab', { name: '3 rows' }).waitFor();
    await page.getByRole('button', { name: 'History' }).click();
    await page.getByRole('button', { name: /TIMESTAMP_TRUNC/ }).click();
    await page.getByRole('button', { name: 'Save as endpoint' }).click();
    await page.getByLabel('Name').fill('events.by-minute');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'events.by-minute' }).waitFor();
    const rows = await weir.service.call('events.by-minute', { project: 'alpha' }, NOW_US);
    assert.equal(rows.length, 3);
  });

  test('is not offered to a token that may not explore', async () => {
    const body = JSON.stringify({ name: 'caller', scopes: ['query'] });
    const { text } = await weir.service.ask('POST', '/api/tokens', body);
    const page = await weir.open({ fragment: '#/query', token: JSON.parse(text).result.token });
    await page.getByText('Your token may not open this view').waitFor();
  });

  for (const { width, colorScheme } of LOOKS) {
    test(`fits and can be used by everybody: ${width} pixels, ${colorScheme}`, async () => {
      const fragment = fragmentOf(BY_MINUTE, { 'p.project': 'STRING:alpha' });
      const page = await weir.open({ width, colorScheme, fragment });
      await run(page);
      for (const tab of ['3 rows', 'Chart', 'Plan']) {
        await page.getByRole('tab', { name: tab }).click();
        await page.locator('.loading').waitFor({ state: 'hidden' });
        await checkFits(page);
        await checkAccessible(page);
      }
    });
  }
});
