import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { NOW, us } from '../scripts/script.ts';
import { AnswerGate } from './answer-gate.ts';
import { ConsoleUnderTest, checkAccessible, checkFits, LOOKS } from './console-under-test.ts';
import { missingBrowser, type Page } from './playwright.ts';

const NOW_US = us(NOW);
const DAY_US = 86_400e6;

/** One event a second; each tenth is an error. */
function appEvents(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    id: `event-${index}`,
    event_message: `message ${index} of the app`,
    timestamp: NOW_US - index * 1_000_000,
    project: index % 2 === 0 ? 'alpha' : 'beta',
    metadata: {
      level: index % 10 === 0 ? 'error' : 'info',
      request: { path: `/items/${index % 3}`, method: 'GET' },
      request_id: `request-${index}`,
      'odd key': index,
    },
  }));
}

const MARKUP = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
const COLOURS = '\u001b[31mred\u001b[0m and \u001b]0;title\u0007';
const TURNED = '\u202eright to left\u202c\u2066\u200b';

/** Events as somebody writes them who means harm, in keys as in values. */
function hostileEvents() {
  const odd = [MARKUP, COLOURS, TURNED, 'javascript:alert(3)', '`"\\', '\n\n\n', '__proto__'];
  const manyKeys = Object.fromEntries(
    Array.from({ length: 400 }, (_, index) => [`${MARKUP}${index}`, index]),
  );
  const deep = Array.from({ length: 40 }).reduce<object>((inner) => ({ [TURNED]: inner }), {
    end: MARKUP,
  });
  return Array.from({ length: 120 }, (_, index) => {
    const text = odd[index % odd.length]!;
    return {
      id: `${MARKUP}${index}`,
      event_message: index === 3 ? MARKUP.repeat(5_000) : `${index} ${text}${COLOURS}${TURNED}`,
      timestamp: NOW_US - index * 1_000_000,
      project: MARKUP,
      metadata: {
        level: text,
        [text]: text,
        ...(index === 0 && { many: manyKeys, deep }),
      },
    };
  });
}

function fragmentOf(parameters: Readonly<Record<string, string>> = {}): string {
  return `#/explore?${new URLSearchParams({ source: 'app.logs', ...parameters })}`;
}

function parametersOf(page: Page): URLSearchParams {
  return new URLSearchParams(page.url().split('?')[1]);
}

const messages = (page: Page) => page.locator('.event .event-message');
const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text }).first();

function rowHeights(page: Page): Promise<readonly number[]> {
  return page.evaluate<readonly number[]>(
    `[...document.querySelectorAll('.event')].map((row) => row.getBoundingClientRect().height)`,
  );
}

/** Opens the record of an event, and gives what is in it. */
async function openRecord(page: Page, text: string) {
  await rowOf(page, text).locator('.event-line').click();
  const record = rowOf(page, text).locator('.event-record');
  await record.waitFor();
  return record;
}

/** A value of an open record with what can be done with it. */
const leafOf = (record: ReturnType<Page['locator']>, name: string) =>
  record.locator('.record-leaf').filter({ hasText: name }).first();

suite('exploring events in the console', { skip: missingBrowser() }, () => {
  let weir: ConsoleUnderTest;

  before(async () => {
    weir = await ConsoleUnderTest.start({
      SOURCES:
        'app.logs:project,old.logs:project,db.logs:project,live.logs:project,paths.logs:project,hostile.logs:project',
    });
    await weir.service.post('app.logs', appEvents(1_500), NOW_US);
    const old = { id: 'old', event_message: 'long ago', timestamp: NOW_US - 3 * DAY_US };
    const related = {
      id: 'related',
      event_message: 'the database did its part',
      timestamp: NOW_US - 30_400_000,
      project: 'alpha',
      metadata: { context: { request_id: 'request-30' } },
    };
    await weir.service.post('old.logs', [old], NOW_US);
    await weir.service.post('db.logs', [related], NOW_US);
    await weir.service.post('hostile.logs', hostileEvents(), NOW_US);
  });

  after(() => weir.close());

  afterEach(() => weir.closePages());

  test('is the first view, and opens the source with the most events', async () => {
    const page = await weir.open();
    await rowOf(page, 'message 0 of the app').waitFor();
    assert.equal(parametersOf(page).get('source'), 'app.logs');
    assert.equal(await page.getByLabel('Source').inputValue(), 'app.logs');
    await page.getByRole('img', { name: /^Events over time: at most \d+ in one bar/ }).waitFor();
  });

  test('searches as people type, and the address keeps it', async () => {
    const page = await weir.open({ fragment: fragmentOf() });
    await rowOf(page, 'message 0 of the app').waitFor();
    await page.keyboard.press('/');
    await page.locator('input[type=search]:focus').waitFor();
    await page.keyboard.type('level:error -"message 0 of"');
    await page.keyboard.press('Enter');
    await rowOf(page, 'message 10 of the app').waitFor();
    await rowOf(page, 'message 0 of the app').waitFor({ state: 'detached' });
    assert.equal(parametersOf(page).get('search'), 'level:error -"message 0 of"');
    await page.goBack();
    await rowOf(page, 'message 0 of the app').waitFor();
    assert.equal(await page.getByLabel('Search', { exact: true }).inputValue(), '');
  });

  test('says at the box what is wrong with a search', async () => {
    const page = await weir.open({ fragment: fragmentOf({ search: 'levle:error' }) });
    const box = page.getByLabel('Search', { exact: true });
    await page
      .getByRole('alert')
      .filter({ hasText: /search, character 1: .*level/ })
      .waitFor();
    assert.equal(await box.getAttribute('aria-invalid'), 'true');
    await checkAccessible(page);
  });

  test('goes on at the end of the list, and draws only what is in sight', async () => {
    const page = await weir.open({ fragment: fragmentOf() });
    await rowOf(page, 'message 0 of the app').waitFor();
    const { x, y } = (await page.getByRole('grid', { name: 'Events' }).boundingBox())!;
    await page.mouse.move(x + 100, y + 100);
    for (const count of [600, 1_100, 1_500]) {
      await page.mouse.wheel(0, 100_000);
      await page.locator(`[aria-rowcount="${count + 1}"]`).waitFor();
    }
    await page.mouse.wheel(0, 100_000);
    await page.getByText('No older events in this time').waitFor();
    await rowOf(page, 'message 1499 of the app').waitFor();
    assert.ok((await messages(page).count()) < 150);
  });

  test('j and k choose an event, Enter opens its record, and filters come from its values', async () => {
    const page = await weir.open({ fragment: fragmentOf() });
    await rowOf(page, 'message 0 of the app').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    const record = rowOf(page, 'message 0 of the app').locator('.event-record');
    await record.waitFor();
    await checkAccessible(page);
    await leafOf(record, 'level').getByRole('button', { name: 'Only these' }).click();
    await rowOf(page, 'message 1 of the app').waitFor({ state: 'detached' });
    assert.equal(parametersOf(page).get('search'), 'metadata.level:error');
    const second = await openRecord(page, 'message 10 of the app');
    await leafOf(second, 'odd key').getByRole('button', { name: 'Not these' }).click();
    await rowOf(page, 'message 10 of the app').waitFor({ state: 'detached' });
    assert.equal(parametersOf(page).get('search'), 'metadata.level:error -metadata.`odd key`:10');
  });

  test('shows the first rows while the bars are still counted', async () => {
    const gate = await AnswerGate.start(weir.service.url);
    try {
      gate.isHoldingBars = true;
      const page = await weir.open({ fragment: fragmentOf(), base: gate.url });
      await rowOf(page, 'message 0 of the app').waitFor();
      assert.equal(await page.locator('.histogram-plot[aria-busy="false"]').count(), 0);
      gate.release();
      await page.locator('.histogram-plot[aria-busy="false"]').waitFor();
    } finally {
      await gate.close();
    }
  });

  test('a value, an event and the address of one are copied', async () => {
    const page = await weir.open({ fragment: fragmentOf() });
    const record = await openRecord(page, 'message 4 of the app');
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
    await leafOf(record, 'path').getByRole('button', { name: 'Copy' }).click();
    assert.equal(await copied(), '/items/1');
    await record.getByRole('button', { name: 'Copy JSON' }).click();
    assert.equal(JSON.parse(await copied()).event_message, 'message 4 of the app');
    await record.getByRole('button', { name: 'Copy link' }).click();
    const [, fragment] = (await copied()).split('#');
    const other = await weir.open({ fragment: `#${fragment}` });
    await rowOf(other, 'message 4 of the app').locator('.event-record').waitFor();
  });

  test('columns stay around an event and in Live', async () => {
    const columns = 'metadata.request.path';
    const page = await weir.open({ fragment: fragmentOf({ columns }) });
    await rowOf(page, '/items/1').waitFor();
    const record = await openRecord(page, 'message 4 of the app');
    await record.getByRole('button', { name: 'Around this event' }).click();
    await page.getByText(/^Around the event of/).waitFor();
    await rowOf(page, 'message 5 of the app').getByText('/items/2').waitFor();
    const fragment = fragmentOf({ source: 'paths.logs', live: '1', columns });
    const live = await weir.open({ fragment });
    await live.getByText('No event has come yet').waitFor();
    const metadata = { request: { path: '/of-live' } };
    const event = { event_message: 'one with a path', timestamp: NOW_US, metadata };
    await weir.service.post('paths.logs', [event], NOW_US);
    await rowOf(live, 'one with a path').getByText('/of-live').waitFor();
  });

  test('colours of a terminal are colours', async () => {
    const page = await weir.open({ fragment: fragmentOf({ source: 'hostile.logs' }) });
    const red = page.locator('.event-message .ansi-fg-1').first();
    await red.waitFor();
    assert.equal(await red.innerText(), 'red');
    const colourOf = (selector: string) =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).color`);
    const [colour, plain] = [
      await colourOf('.event-message .ansi-fg-1'),
      await colourOf('.event-message'),
    ];
    assert.notEqual(colour, plain);
  });

  test('shows a field as a column, and takes it away', async () => {
    const page = await weir.open({ fragment: fragmentOf() });
    const record = await openRecord(page, 'message 1 of the app');
    await leafOf(record, 'path').getByRole('button', { name: 'Add as column' }).click();
    await rowOf(page, 'message 2 of the app').getByText('/items/2').first().waitFor();
    assert.equal(parametersOf(page).get('columns'), 'metadata.request.path');
    await page.getByRole('button', { name: 'Remove the column metadata.request.path' }).click();
    assert.equal(parametersOf(page).get('columns'), null);
  });

  test('stacks the bars by a field, and a part of the time is chosen by dragging', async () => {
    const page = await weir.open({ fragment: fragmentOf() });
    await page.getByLabel('Field of the bars').selectOption('metadata.level');
    await page.locator('.histogram-legend').getByText('error').waitFor();
    await page.locator('.fill-bad').first().waitFor({ state: 'attached' });
    const plot = page.getByRole('img', { name: /^Events over time/ });
    const { x, y, width, height } = (await plot.boundingBox())!;
    await page.mouse.move(x + width * 0.9, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.95, y + height / 2, { steps: 4 });
    await page.mouse.up();
    await rowOf(page, 'message 0 of the app').waitFor({ state: 'detached' });
    const from = Date.parse(parametersOf(page).get('from')!);
    const to = Date.parse(parametersOf(page).get('to')!);
    assert.ok(to - from >= 180_000 && to - from <= 300_000, `${from} to ${to}`);
    assert.equal(parametersOf(page).get('by'), 'metadata.level');
  });

  test('takes times as they are typed, in UTC or local time, and says what is no time', async () => {
    const page = await weir.open({ fragment: fragmentOf() });
    await page.getByRole('combobox', { name: 'Time' }).selectOption('typed');
    await page.getByLabel('From', { exact: true }).fill('2026-01-15 11:58');
    await page.getByLabel('To', { exact: true }).fill('2026-01-15 11:59');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await rowOf(page, 'message 61 of the app').waitFor();
    await page.getByLabel('From', { exact: true }).fill('yesterday');
    await page.keyboard.press('Enter');
    await page.getByText(/^from must be an ISO 8601 time/).waitFor();
    await page.getByRole('button', { name: /Times are in UTC/ }).click();
    await page.getByRole('button', { name: /Times are local/ }).waitFor();
    assert.equal(parametersOf(page).get('time'), 'local');
  });

  test('an empty list says whether there are older events, and offers their time', async () => {
    const page = await weir.open({ fragment: fragmentOf({ source: 'old.logs' }) });
    await page.getByText('There are no events in this time').waitFor();
    await page.getByText('The newest one before it is of 2026-01-12 12:00:00.').waitFor();
    await page.getByRole('button', { name: 'Show the events up to it' }).click();
    await rowOf(page, 'long ago').waitFor();
  });

  test('shows its SQL, and takes it to the editor', async () => {
    const page = await weir.open({ fragment: fragmentOf({ search: 'level:error' }) });
    await rowOf(page, 'message 0 of the app').waitFor();
    await page.getByRole('button', { name: 'SQL' }).click();
    await checkAccessible(page);
    await page.getByRole('link', { name: 'Open in Query' }).first().click();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('tab', { name: '100 rows' }).waitFor();
  });

  test('shows the neighbours of an event, under an address of its own', async () => {
    const page = await weir.open({ fragment: fragmentOf({ search: 'level:error' }) });
    const record = await openRecord(page, 'message 100 of the app');
    await record.getByRole('button', { name: 'Around this event' }).click();
    await page.getByText(/^Around the event of 2026-01-15 11:58:20/).waitFor();
    await rowOf(page, 'message 101 of the app').waitFor();
    await rowOf(page, 'message 99 of the app').waitFor();
    const shared = await weir.open({ fragment: `#${page.url().split('#')[1]}` });
    await rowOf(shared, 'message 100 of the app').locator('.event-record').waitFor();
    await shared.getByRole('button', { name: 'Load newer events' }).click();
    await shared.getByRole('button', { name: 'No newer events' }).waitFor();
    await checkAccessible(shared);
  });

  test('shows the events of one request in all sources, in the order of time', async () => {
    const page = await weir.open({ fragment: fragmentOf() });
    const record = await openRecord(page, 'message 30 of the app');
    await record.getByRole('button', { name: 'This request' }).click();
    await page.getByText('These are all').waitFor();
    await rowOf(page, 'the database did its part').waitFor();
    const found = await messages(page).allInnerTexts();
    assert.deepEqual(found, ['the database did its part', 'message 30 of the app']);
    assert.equal(parametersOf(page).get('request'), 'request_id:request-30');
    await checkAccessible(page);
    const other = await openRecord(page, 'the database did its part');
    await other.getByRole('button', { name: 'Around this event' }).click();
    await page.getByText(/^Around the event of 2026-01-15 11:59:29.6/).waitFor();
    assert.equal(parametersOf(page).get('source'), 'db.logs');
  });

  test('follows events as they come, and stands still while somebody reads', async () => {
    const page = await weir.open({ fragment: fragmentOf({ source: 'live.logs' }) });
    await page.getByRole('button', { name: 'Live' }).click();
    await page.getByText('No event has come yet').waitFor();
    const post = (text: string) =>
      weir.service.post('live.logs', [{ event_message: text, timestamp: NOW_US }], NOW_US);
    await post('the first one');
    await rowOf(page, 'the first one').waitFor();
    await checkAccessible(page);
    await rowOf(page, 'the first one').locator('.event-line').click();
    await page.getByText('paused, nothing new yet').waitFor();
    await post('the second one');
    await page.getByText('paused, 1 new').waitFor();
    assert.equal(await page.getByText('the second one').count(), 0);
    await page.keyboard.press('p');
    await rowOf(page, 'the second one').waitFor();
    await page.keyboard.press('p');
    await post('the third one');
    await page.getByText('paused, 1 new').waitFor();
    await page.getByRole('button', { name: 'Go on' }).click();
    await rowOf(page, 'the third one').waitFor();
    assert.deepEqual(await messages(page).allInnerTexts(), [
      'the third one',
      'the second one',
      'the first one',
    ]);
    await page.getByRole('button', { name: 'Back to all events' }).click();
    await page.getByRole('grid', { name: 'Events', exact: true }).waitFor();
  });

  test('follows only the events that match the search', async () => {
    const fragment = fragmentOf({ source: 'live.logs', search: 'wanted', live: '1' });
    const page = await weir.open({ fragment });
    await page.getByText('No event that matches has come yet').waitFor();
    const post = (text: string) =>
      weir.service.post('live.logs', [{ event_message: text, timestamp: NOW_US }], NOW_US);
    await post('some other');
    await post('a wanted one');
    await rowOf(page, 'a wanted one').waitFor();
    assert.deepEqual(await messages(page).allInnerTexts(), ['a wanted one']);
    await checkAccessible(page);
  });

  test('finds a text within the list, also where it is not drawn', async () => {
    const page = await weir.open({ fragment: fragmentOf() });
    await rowOf(page, 'message 0 of the app').waitFor();
    await page.keyboard.press('f');
    await page.getByLabel('Find in the list').fill('MESSAGE 9');
    await page.getByText('11', { exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByText('2 of 11', { exact: true }).waitFor();
    await page.getByRole('row', { selected: true, name: /message 90 of/ }).waitFor();
    await checkAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByLabel('Find in the list').waitFor({ state: 'detached' });
  });

  test('draws rows of one line, of less height, or wrapped', async () => {
    const page = await weir.open({ fragment: fragmentOf({ source: 'hostile.logs' }) });
    await page.locator('.event').first().waitFor();
    const [plain] = await rowHeights(page);
    const rows = page.getByRole('combobox', { name: 'Rows' });
    await rows.selectOption('dense');
    await page.locator('.event-table.dense').waitFor();
    const [dense] = await rowHeights(page);
    assert.ok(dense! < plain!, `${dense} and ${plain}`);
    await rows.selectOption('wrapped');
    await page.locator('.event-table.wrapped').waitFor();
    assert.ok(Math.max(...(await rowHeights(page))) > 3 * plain!);
    await checkFits(page);
    assert.equal(parametersOf(page).get('rows'), 'wrapped');
  });

  test('fields at the side have values with counts, and one click searches for one', async () => {
    const page = await weir.open({ fragment: fragmentOf() });
    const side = page.getByRole('complementary', { name: 'Fields' });
    await side.getByText('level', { exact: true }).click();
    await side.getByRole('button', { name: /^error 150/ }).waitFor();
    await checkAccessible(page);
    await side.getByRole('button', { name: /^error 150/ }).click();
    await rowOf(page, 'message 1 of the app').waitFor({ state: 'detached' });
    assert.equal(parametersOf(page).get('search'), 'metadata.level:error');
  });

  test('a pinned field stays at the top of those at the side, and in the address', async () => {
    const page = await weir.open({ fragment: fragmentOf() });
    const side = page.getByRole('complementary', { name: 'Fields' });
    await side.getByText('request_id', { exact: true }).click();
    await side.getByRole('button', { name: 'Pin' }).click();
    await side.getByText('pinned: request_id').waitFor();
    await checkAccessible(page);
    assert.equal(parametersOf(page).get('pins'), 'metadata.request_id');
    const [first] = await side.locator('.field-name').allInnerTexts();
    assert.match(first!, /request_id$/);
    const pins = 'metadata.gone,metadata.level';
    const other = await weir.open({ fragment: fragmentOf({ pins }) });
    const otherSide = other.getByRole('complementary', { name: 'Fields' });
    await otherSide.getByText('pinned: gone').click();
    await otherSide.getByText('in no event of this time').waitFor();
    const found = await otherSide.locator('.field-name').allInnerTexts();
    assert.match(found[0]!, /gone$/);
    assert.match(found[1]!, /level$/);
    assert.equal(found.filter((text) => text.endsWith('level')).length, 1);
    await otherSide.getByRole('button', { name: 'Pin', pressed: true }).click();
    await otherSide.getByText('pinned: gone').waitFor({ state: 'detached' });
    assert.equal(parametersOf(other).get('pins'), 'metadata.level');
  });

  test('another source is opened from the palette', async () => {
    const page = await weir.open({ fragment: fragmentOf() });
    await rowOf(page, 'message 0 of the app').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /^Find views/ }).fill('db.logs');
    await page.getByRole('option', { name: 'db.logs Source' }).waitFor();
    await page.keyboard.press('Enter');
    await rowOf(page, 'the database did its part').waitFor();
  });

  test('a token that may not explore begins with what it may open', async () => {
    const body = JSON.stringify({ name: 'caller', scopes: ['query'] });
    const { text } = await weir.service.ask('POST', '/api/tokens', body);
    const page = await weir.open({ token: JSON.parse(text).result.token });
    await page.getByRole('link', { name: /^logs\.all/ }).waitFor();
    assert.ok(page.url().endsWith('#/endpoints'), page.url());
    assert.equal(await page.getByRole('link', { name: 'Explore' }).count(), 0);
  });

  test('a token of one project sees only its events', async () => {
    const body = JSON.stringify({ name: 'beta', scopes: ['explore'], projects: ['beta'] });
    const { text } = await weir.service.ask('POST', '/api/tokens', body);
    const { token } = JSON.parse(text).result;
    const page = await weir.open({ fragment: fragmentOf(), token });
    await rowOf(page, 'message 1 of the app').waitFor();
    assert.equal(await page.getByText('message 0 of the app').count(), 0);
  });

  test('what strangers write is text and nothing else, and the layout holds', async () => {
    const fragment = fragmentOf({ source: 'hostile.logs', by: 'metadata.level' });
    const page = await weir.open({ fragment });
    await page.locator('.histogram-legend li').first().waitFor();
    const before = await page.locator('.event').first().boundingBox();
    for (const row of await rowHeights(page)) assert.equal(row, before!.height);
    const record = await openRecord(page, '0 <img');
    await record.getByText(MARKUP).first().waitFor();
    await leafOf(record, 'project').getByRole('button', { name: 'Only these' }).click();
    await page.getByText('0 <img').first().waitFor();
    const again = await openRecord(page, '0 <img');
    await again
      .locator('.record-leaf')
      .filter({ hasText: MARKUP })
      .last()
      .getByRole('button', { name: 'Add as column' })
      .click();
    const drawn = (await page.locator('.explore-parts').innerText()).replaceAll(/[\n\t]/g, ' ');
    assert.deepEqual(drawn.match(/[\p{Cc}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069]/gu), null);
    await openRecord(page, '1 red');
    await page.getByRole('complementary', { name: 'Fields' }).getByText('level').first().click();
    await checkFits(page);
    await checkAccessible(page);
    assert.equal(await page.locator('.explore img, .explore script').count(), 0);
    weir.checkWrongs();
  });

  for (const { width, colorScheme } of LOOKS) {
    test(`fits and can be used by everybody: ${width} pixels, ${colorScheme}`, async () => {
      const fragment = fragmentOf({ by: 'metadata.level', columns: 'metadata.request.path' });
      const page = await weir.open({ width, colorScheme, fragment });
      await page.locator('.histogram-legend').getByText('error').waitFor();
      await openRecord(page, 'message 1 of the app');
      await checkFits(page);
      await checkAccessible(page);
    });
  }
});
