import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, suite, test } from 'node:test';
import { DEFINITION_ROWS_MAX, DOWNLOAD_PAGE_ROWS, TICKET_MS_MAX } from '../../src/limits.ts';
import { NOW, us } from '../scripts/script.ts';
import { makeToken } from '../support/granted.ts';
import { LONG_COUNT, postLongEvents } from '../support/long-download.ts';
import { parseCsv } from '../support/parse-csv.ts';
import { AnswerGate } from './answer-gate.ts';
import { ConsoleUnderTest, checkAccessible, checkFits, LOOKS } from './console-under-test.ts';
import { missingBrowser, type Page } from './playwright.ts';

const NOW_US = us(NOW);

/** More than two pages of a download, and many more than the list loads. */
const EVENTS = Array.from({ length: 2 * DOWNLOAD_PAGE_ROWS + 1_000 }, (_, index) => ({
  id: `event-${index}`,
  event_message: `message, "${index}"`,
  timestamp: NOW_US - index * 100_000,
  project: index % 2 === 0 ? 'alpha' : 'beta',
  metadata: { index, level: index % 10 === 0 ? 'error' : 'info' },
}));

const ROWS = 20_000;
const MANY_ROWS = `SELECT n FROM UNNEST(GENERATE_ARRAY(1, ${ROWS})) AS n ORDER BY n`;

function exploreFragment(parameters: Readonly<Record<string, string>> = {}): string {
  return `#/explore?${new URLSearchParams({ source: 'app.logs', ...parameters })}`;
}

const dialogOf = (page: Page) =>
  page.getByRole('dialog', { name: 'Download everything that matches' });

const buttonOf = (page: Page, name: string) =>
  dialogOf(page).getByRole('button', { name, exact: true });

/** Opens the window of the download from the tools of the list. */
async function openDialog(page: Page): Promise<void> {
  await page.locator('.event').first().waitFor();
  await page.getByRole('button', { name: 'Download', exact: true }).click();
  await dialogOf(page).waitFor();
}

/** Presses the button of the dialog, and gives the name and the text of the file that the browser saved. */
async function save(page: Page): Promise<{ readonly name: string; readonly text: string }> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    buttonOf(page, 'Download').click(),
  ]);
  const text = await readFile(await download.path(), 'utf8');
  return { name: download.suggestedFilename(), text };
}

/** The fields of CSV, row by row. */
function textsOf(csv: string): readonly (readonly string[])[] {
  return parseCsv(csv).map((row) => row.map(({ text }) => text));
}

/** The ids of the events in lines of JSON. */
function idsOf(text: string): readonly string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).id);
}

suite('a download in the console', { skip: missingBrowser() }, () => {
  let weir: ConsoleUnderTest;
  let gate: AnswerGate;

  before(async () => {
    weir = await ConsoleUnderTest.start({ SOURCES: 'app.logs:project,long.logs:project' });
    gate = await AnswerGate.start(weir.service.url);
    await weir.service.post('app.logs', EVENTS, NOW_US);
    await postLongEvents(weir.service, 'long.logs');
  });

  after(async () => {
    await gate.close();
    await weir.close();
  });

  afterEach(() => weir.closePages());

  /** Begins a download that stays amid its way. */
  const beginHeld = async (page: Page): Promise<void> => {
    gate.isHolding = true;
    try {
      await openDialog(page);
      await buttonOf(page, 'Download').click();
      await dialogOf(page)
        .getByText(/^[1-9][\d,]* events sent, \d+ % of the time/)
        .waitFor();
    } finally {
      gate.isHolding = false;
    }
  };

  const openHeld = (options: object = {}) =>
    weir.open({ ...options, base: gate.url, fragment: exploreFragment({ source: 'long.logs' }) });

  test('has all events that match as CSV, also those that the list has not loaded', async () => {
    const page = await weir.open({ fragment: exploreFragment({ search: '-level:error' }) });
    await openDialog(page);
    const wanted = EVENTS.filter(({ metadata }) => metadata.level !== 'error');
    await dialogOf(page)
      .getByText(/^All 9,900 events of app\.logs from .* UTC that match the search -level:error,/)
      .waitFor();
    const { name, text } = await save(page);
    await dialogOf(page).getByText('Done: 9,900 events were sent.').waitFor();
    assert.equal(name, 'app.logs.csv');
    const [head, ...rows] = textsOf(text);
    assert.deepEqual(head, ['id', 'timestamp', 'event_message', 'project', 'metadata']);
    assert.deepEqual(
      rows.map(([id, , message]) => [id, message]),
      wanted.map(({ id, event_message }) => [id, event_message]),
    );
  });

  test('is found in the palette and done by keys alone, as lines of JSON', async () => {
    const page = await weir.open({ fragment: exploreFragment() });
    await page.locator('.event').first().waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('download');
    await page.getByRole('option', { name: 'Download Explore' }).waitFor();
    await page.keyboard.press('Enter');
    await dialogOf(page).waitFor();
    const focused = () => page.evaluate<string>('document.activeElement.tagName');
    while ((await focused()) !== 'SELECT') await page.keyboard.press('Tab');
    await page.keyboard.type('Lines');
    await page.keyboard.press('Tab');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.keyboard.press('Enter'),
    ]);
    assert.equal(download.suggestedFilename(), 'app.logs.ndjson');
    const text = await readFile(await download.path(), 'utf8');
    assert.deepEqual(
      idsOf(text),
      EVENTS.map(({ id }) => id),
    );
    await dialogOf(page).getByText('Done: 11,000 events were sent.').waitFor();
    await page.keyboard.press('Escape');
    await dialogOf(page).waitFor({ state: 'detached' });
  });

  test('of a token that is bound to a project has only its events', async () => {
    const bound = { scopes: ['explore'], projects: ['beta'] } as const;
    const { token } = await makeToken(weir.service, 'beta', bound);
    const page = await weir.open({ fragment: exploreFragment(), token });
    await openDialog(page);
    await dialogOf(page).getByLabel('Format').selectOption('ndjson');
    const { text } = await save(page);
    assert.deepEqual(
      idsOf(text),
      EVENTS.filter(({ project }) => project === 'beta').map(({ id }) => id),
    );
  });

  test('has all rows of a query, of which the page shows the first', async () => {
    const fragment = `#/query?${new URLSearchParams({ sql: MANY_ROWS })}`;
    const page = await weir.open({ fragment });
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('only the first 1000 rows').waitFor();
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    await checkAccessible(page);
    const { name, text } = await save(page);
    await dialogOf(page).getByText('Done: all rows were sent.').waitFor();
    assert.equal(name, 'query.csv');
    const [head, ...rows] = textsOf(text);
    assert.deepEqual(head, ['n']);
    assert.deepEqual(
      rows,
      Array.from({ length: ROWS }, (_, index) => [String(index + 1)]),
    );
  });

  test('of a query says so when the limit of rows cut the answer', async () => {
    const sql = `SELECT n FROM UNNEST(GENERATE_ARRAY(1, ${DEFINITION_ROWS_MAX + 1})) AS n`;
    const page = await weir.open({ fragment: `#/query?${new URLSearchParams({ sql })}` });
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    const { text } = await save(page);
    await dialogOf(page)
      .getByText('Done, but the answer has more rows: only the first 100,000 were sent.')
      .waitFor();
    await checkAccessible(page);
    assert.equal(textsOf(text).length, DEFINITION_ROWS_MAX + 1, 'the rows and the head line');
  });

  test('says how far it is, and is cancelled half way', async () => {
    const page = await openHeld();
    const [download] = await Promise.all([page.waitForEvent('download'), beginHeld(page)]);
    await checkAccessible(page);
    await buttonOf(page, 'Cancel').click();
    await dialogOf(page).getByText('Cancelled: the file is incomplete.').waitFor();
    gate.release();
    assert.ok((await download.failure()) !== null, 'the service has broken it off');
    await buttonOf(page, 'Download again').waitFor();
  });

  test('goes on when its window is closed', async () => {
    const page = await weir.open({ fragment: exploreFragment({ source: 'long.logs' }) });
    await openDialog(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      buttonOf(page, 'Download').click(),
    ]);
    await page.keyboard.press('Escape');
    await dialogOf(page).waitFor({ state: 'detached' });
    const [, ...rows] = textsOf(await readFile(await download.path(), 'utf8'));
    assert.equal(rows.length, LONG_COUNT);
  });

  test('that breaks off says so', async () => {
    const page = await openHeld();
    await beginHeld(page);
    gate.breakOff();
    await page
      .getByRole('alert')
      .filter({ hasText: 'The file is missing or incomplete: the connection broke off' })
      .waitFor();
    await checkAccessible(page);
  });

  test('says that its address has expired, and can be asked for again', async () => {
    gate.onDownload = () => {
      weir.service.wall.ms += TICKET_MS_MAX;
    };
    const page = await weir.open({ base: gate.url, fragment: exploreFragment() });
    await openDialog(page);
    await buttonOf(page, 'Download').click();
    await page.getByRole('alert').filter({ hasText: 'The download did not begin' }).waitFor();
    gate.onDownload = () => {};
    const { text } = await save(page);
    assert.equal(textsOf(text).length, EVENTS.length + 1);
  });

  test('of a token that was revoked asks for another token', async () => {
    const { id, token } = await makeToken(weir.service, 'revoked', { scopes: ['explore'] });
    const page = await weir.open({ fragment: exploreFragment(), token });
    await openDialog(page);
    assert.equal((await weir.service.ask('DELETE', `/api/tokens/${id}`)).status, 204);
    await buttonOf(page, 'Download').click();
    await page.getByText('The service does not know this token.').waitFor();
  });

  for (const { width, colorScheme } of LOOKS) {
    test(`fits and can be used by everybody: ${width} pixels, ${colorScheme}`, async () => {
      const page = await openHeld({ width, colorScheme });
      await openDialog(page);
      await checkFits(page);
      await checkAccessible(page);
      await page.keyboard.press('Escape');
      await beginHeld(page);
      await checkFits(page);
      await checkAccessible(page);
      await buttonOf(page, 'Cancel').click();
      await dialogOf(page).getByText('Cancelled').waitFor();
      await checkFits(page);
      await checkAccessible(page);
    });
  }
});
