import assert from 'node:assert/strict';
import { ServiceUnderTest, TOKEN } from '../support/service-under-test.ts';
import { axeProgram, type Browser, launchBrowser, type Page } from './playwright.ts';

/** Milliseconds that a person would wait, on a machine that is busy. */
const PATIENCE_MS = 20_000;

const WIDTHS: Readonly<Record<number, number>> = { 360: 740, 1280: 800, 3840: 2160 };

export type PageOptions = {
  /** 1280 unless given; 360, 1280 and 3840 are those that the page is made for. */
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** The token of the link; `undefined` opens the page without one. */
  readonly token?: string | undefined;
  /** The fragment that is opened: `#/explore?source=…`. */
  readonly fragment?: string;
  /** Where the service is to be opened, if not at its own address. */
  readonly base?: string;
};

/**
 * A service, and a browser that opens its console as a person does.
 *
 * Invariant: what a page must never do fails `close`: an error, a violation of the policy for content, a dialog.
 */
export class ConsoleUnderTest {
  readonly service: ServiceUnderTest;
  readonly #browser: Browser;
  readonly #wrongs: string[] = [];

  private constructor(service: ServiceUnderTest, browser: Browser) {
    this.service = service;
    this.#browser = browser;
  }

  static async start(
    environment: Readonly<Record<string, string>> = {},
    monotonicMs: () => number = () => performance.now(),
  ): Promise<ConsoleUnderTest> {
    const service = await ServiceUnderTest.start(environment, monotonicMs);
    return new ConsoleUnderTest(service, await launchBrowser());
  }

  /** Opens a page of its own, which shares nothing with those before. */
  async open(options: PageOptions = {}): Promise<Page> {
    const { width = 1280, colorScheme = 'light', fragment = '', base = this.service.url } = options;
    const token = 'token' in options ? options.token : TOKEN;
    const context = await this.#browser.newContext({
      colorScheme,
      viewport: { width, height: WIDTHS[width] ?? 800 },
      timezoneId: 'UTC',
      // What fades in has colours halfway that nobody chose.
      reducedMotion: 'reduce',
      acceptDownloads: true,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await context.newPage();
    await this.#watch(page);
    const link = token === undefined ? '' : `token=${encodeURIComponent(token)}`;
    const hash =
      fragment === '' ? `#${link}` : `${fragment}${fragment.includes('?') ? '&' : '?'}${link}`;
    await page.goto(`${base}/${hash}`);
    return page;
  }

  async #watch(page: Page): Promise<void> {
    await page.addInitScript(
      `addEventListener('securitypolicyviolation', (event) => {
        console.error('securitypolicyviolation: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample);
      });`,
    );
    page.on('dialog', (dialog) => {
      this.#wrongs.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('pageerror', (error) => this.#wrongs.push(`an error: ${error.stack}`));
    page.on('console', (message) => {
      // The browser notes each answer that is not a success; which are right is for the tests to say.
      if (message.type() !== 'error' || message.text().startsWith('Failed to load resource'))
        return;
      this.#wrongs.push(`an error: ${message.text()}`);
    });
  }

  /** Fails when a page did what none may do. */
  checkWrongs(): void {
    assert.deepEqual(this.#wrongs, []);
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.service.stop();
    this.checkWrongs();
  }
}

/** Fails when axe finds something that some people could not use. */
export async function checkAccessible(page: Page): Promise<void> {
  const loading = page.locator('.loading');
  while ((await loading.count()) > 0) await loading.first().waitFor({ state: 'hidden' });
  await page.evaluate(axeProgram());
  const found = await page.evaluate<
    readonly { id: string; nodes: { html: string; failureSummary: string }[] }[]
  >('axe.run(document).then(({ violations }) => violations)');
  const told = found.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)}`,
  );
  assert.deepEqual(told, []);
}

/** Fails when something is wider than the window, so that the page scrolls sideways. */
export async function checkFits(page: Page): Promise<void> {
  const [wanted, given] = await page.evaluate<readonly [number, number]>(
    '[document.documentElement.scrollWidth, innerWidth]',
  );
  assert.ok(wanted <= given, `the page is ${wanted} pixels wide in a window of ${given}`);
}
