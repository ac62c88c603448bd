import assert from 'node:assert/strict';
import { fuzzSeed } from '../fuzz/seed.ts';
import { budgetOf } from '../support/budget.ts';
import { ServiceUnderTest, TOKEN } from '../support/service-under-test.ts';
import {
  axeProgram,
  type Browser,
  type BrowserContext,
  launchBrowser,
  type Page,
} from './playwright.ts';

/** Milliseconds that a person would wait, on a machine that is busy. */
const PATIENCE_MS = 60_000;

const WIDTHS: Readonly<Record<number, number>> = { 360: 740, 1280: 800, 3840: 2160 };

/** What a page may look like: each width in both colour schemes. Of two neighbours one has each scheme or width. */
const ALL_LOOKS = [
  { width: 360, colorScheme: 'light' },
  { width: 360, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
  { width: 3840, colorScheme: 'light' },
  { width: 3840, colorScheme: 'dark' },
] as const;

/** With a step of 2 each width is seen once, and both colour schemes are. */
const LOOK_STEP = budgetOf('WEIR_CONSOLE_LOOK_STEP', { fast: 2, all: 1 });

/** What each view must fit; a run that looks at a part of them begins where the seed says. */
export const LOOKS = ALL_LOOKS.filter((_, index) => index % LOOK_STEP === fuzzSeed() % LOOK_STEP);

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
  #contexts: BrowserContext[] = [];

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
    this.#contexts.push(context);
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

  /** Closes what is open: a page that nobody looks at any more goes on asking and drawing. */
  async closePages(): Promise<void> {
    const contexts = this.#contexts;
    this.#contexts = [];
    await Promise.all(contexts.map((context) => context.close()));
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
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axeProgram());
  const found = await page.evaluate<
    readonly { id: string; nodes: { html: string; failureSummary: string }[] }[]
  >("axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)");
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
