import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { TOKEN } from '../support/service-under-test.ts';
import { ConsoleUnderTest, checkAccessible, checkFits, LOOKS } from './console-under-test.ts';
import { missingBrowser } from './playwright.ts';

suite('the shell of the console', { skip: missingBrowser() }, () => {
  let weir: ConsoleUnderTest;

  before(async () => {
    weir = await ConsoleUnderTest.start();
  });

  after(() => weir.close());

  afterEach(() => weir.closePages());

  test('asks for a token once, tells a wrong one, and opens with a right one', async () => {
    const page = await weir.open({ token: undefined });
    await page.getByLabel('Access token').fill('no-such-token');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('The service does not know this token.').waitFor();
    await checkAccessible(page);
    await page.getByLabel('Access token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    await page.reload();
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
  });

  test('takes the token of a link, and removes it from the address at once', async () => {
    const page = await weir.open({ fragment: '#/endpoints?endpoint=logs.all' });
    await page.getByRole('heading', { name: 'logs.all' }).waitFor();
    assert.ok(page.url().endsWith('/#/endpoints?endpoint=logs.all'), page.url());
    assert.ok(
      !(await page.evaluate<string>('JSON.stringify([history.state, document.cookie])')).includes(
        TOKEN,
      ),
    );
  });

  test('does not put the token of a link back into the address when a parameter changes', async () => {
    const page = await weir.open({ fragment: '#/endpoints?endpoint=logs.all' });
    await page.getByRole('tab', { name: 'SQL' }).click();
    await page.getByText('SELECT', { exact: false }).first().waitFor();
    assert.ok(page.url().endsWith('/#/endpoints?endpoint=logs.all&tab=text'), page.url());
  });

  test('forgets the token on request', async () => {
    const page = await weir.open();
    await page.getByRole('button', { name: /Forget the token/ }).click();
    await page.getByLabel('Access token').waitFor();
    assert.equal(await page.evaluate('sessionStorage.length'), 0);
  });

  test('? shows the keys, Ctrl+K finds a saved query, Escape closes both', async () => {
    const page = await weir.open();
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await checkAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('invocation');
    await page.getByRole('option', { name: /functions\.invocation-stats/ }).waitFor();
    await checkAccessible(page);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'functions.invocation-stats' }).waitFor();
  });

  test('follows the colours of the system, and switches them', async () => {
    const page = await weir.open({ colorScheme: 'dark' });
    const theme = () => page.evaluate<string>('document.documentElement.dataset.theme');
    await page.getByRole('button', { name: 'Colours: as the system' }).click();
    assert.equal(await theme(), 'light');
    await page.getByRole('button', { name: 'Colours: light' }).click();
    assert.equal(await theme(), 'dark');
    await page.reload();
    await page.getByRole('button', { name: 'Colours: dark' }).waitFor();
  });

  test('a token that may only post sees a message that says so', async () => {
    const made = await weir.service.ask(
      'POST',
      '/api/tokens',
      JSON.stringify({ name: 'sender', scopes: ['ingest'] }),
    );
    const page = await weir.open({ token: JSON.parse(made.text).result.token });
    await page.getByText('Your token only posts logs').waitFor();
    await checkAccessible(page);
  });

  for (const { width, colorScheme } of LOOKS) {
    test(`fits ${width} pixels, ${colorScheme}`, async () => {
      const page = await weir.open({ width, colorScheme });
      await page.getByRole('navigation', { name: 'Views' }).waitFor();
      await checkFits(page);
      await checkAccessible(page);
    });
  }
});
