import { readFileSync } from 'node:fs';
import { type Browser, launchBrowser, type Page } from '../../test/console/playwright.ts';

/**
 * Counts in the page, from its start: milliseconds of each task beyond 50 ms, when each frame began, and the bodies of
 * requests to explore.
 */
const METER = `
  const meter = { tasks: [], frames: [], explored: [] };
  globalThis.weirMeter = meter;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) meter.tasks.push(duration);
  }).observe({ type: 'longtask', buffered: true });
  const note = (atMs) => { meter.frames.push(atMs); requestAnimationFrame(note); };
  requestAnimationFrame(note);
  const { fetch } = globalThis;
  globalThis.fetch = (address, options) => {
    if (String(address).endsWith('api/explore')) meter.explored.push(options.body);
    return fetch(address, options);
  };
`;

/** What a page did over some time. */
export type PageWork = {
  /** Frames of each whole second. */
  readonly framesPerSecond: readonly number[];
  /** Milliseconds of the longest task; 0 if none took 50. */
  readonly longestTaskMs: number;
};

export type ExploreTimes = {
  /** Milliseconds until the first event is in the page, and until all bars are. */
  readonly rowsMs: number;
  readonly barsMs: number;
  /** What the page asked the service for. */
  readonly body: string;
};

/** A page of the console in Chromium that says what it does. */
export class MeteredPage {
  readonly page: Page;
  readonly #browser: Browser;
  readonly #rendererId: number;

  private constructor(page: Page, browser: Browser, rendererId: number) {
    this.page = page;
    this.#browser = browser;
    this.#rendererId = rendererId;
  }

  static async open(url: string, token: string): Promise<MeteredPage> {
    const browser = await launchBrowser();
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.addInitScript(METER);
    await page.goto(`${url}/#/service?token=${encodeURIComponent(token)}`);
    await page.getByRole('heading').first().waitFor();
    await keepNoAnswers(page);
    const session = await browser.newBrowserCDPSession();
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const renderers = processInfo.filter(({ type }) => type === 'renderer');
    return new MeteredPage(page, browser, renderers.at(-1)!.id);
  }

  close(): Promise<void> {
    return this.#browser.close();
  }

  /** Memory of the tab that it shares with no other process. */
  memoryBytes(): number {
    const status = readFileSync(`/proc/${this.#rendererId}/status`, 'utf8');
    return 1024 * Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1]);
  }

  /** Goes from another view to Explore. */
  async explore(parameters: Readonly<Record<string, string>>): Promise<ExploreTimes> {
    await this.#leave();
    const fragment = `#/explore?${new URLSearchParams(parameters)}`;
    return this.page.evaluate<ExploreTimes>(`(async () => {
      weirMeter.explored.length = 0;
      const fromMs = performance.now();
      location.hash = ${JSON.stringify(fragment)};
      const until = (selector) => new Promise((done) => {
        const look = () => document.querySelector(selector) === null
          ? requestAnimationFrame(look)
          : done(performance.now() - fromMs);
        look();
      });
      const rowsMs = await until('.event');
      const barsMs = await until('.histogram-plot[aria-busy="false"]');
      return { rowsMs, barsMs, body: weirMeter.explored[0] };
    })()`);
  }

  /** What the page does while `work` runs. */
  async during(work: () => Promise<unknown>): Promise<PageWork> {
    await this.page.evaluate('weirMeter.tasks.length = weirMeter.frames.length = 0');
    await work();
    return this.page.evaluate<PageWork>(`(() => {
      const { tasks, frames } = weirMeter;
      const seconds = Math.floor((frames.at(-1) - frames[0]) / 1000);
      const framesPerSecond = Array.from({ length: seconds }, () => 0);
      for (const atMs of frames) {
        const second = Math.floor((atMs - frames[0]) / 1000);
        if (second < seconds) framesPerSecond[second]++;
      }
      return { framesPerSecond, longestTaskMs: Math.max(0, ...tasks) };
    })()`);
  }

  /** Scrolls the list to its end again and again until it has so many rows. */
  async growTo(rowCount: number, onRows: (rowCount: number) => void): Promise<void> {
    for (;;) {
      const rows = await this.page.evaluate<number>(`(async () => {
        const frame = document.querySelector('.event-table');
        frame.scrollTop = frame.scrollHeight;
        await new Promise((done) => setTimeout(done, 50));
        return Number(document.querySelector('[role=grid]').getAttribute('aria-rowcount')) - 1;
      })()`);
      onRows(rows);
      if (rows >= rowCount) return;
    }
  }

  /** Scrolls by so many pixels in each frame, up from where the list is. */
  async scrollUp(ms: number, pixels: number): Promise<void> {
    await this.page.evaluate(`new Promise((done) => {
      const frame = document.querySelector('.event-table');
      const endMs = performance.now() + ${ms};
      const step = () => {
        frame.scrollTop -= ${pixels};
        if (performance.now() < endMs) requestAnimationFrame(step);
        else done();
      };
      step();
    })`);
  }

  async #leave(): Promise<void> {
    await this.page.evaluate("location.hash = '#/service'");
    await this.page.locator('.event').first().waitFor({ state: 'detached' });
    await this.page.locator('.histogram').waitFor({ state: 'detached' });
  }
}

/** What this module uses of the insides of `playwright-core`, whose version is exact. */
type DrivenPage = {
  readonly _connection: {
    toImpl(page: Page): {
      readonly delegate: {
        readonly _mainFrameSession: {
          readonly _client: { send(command: 'Network.disable'): Promise<object> };
        };
      };
    };
  };
};

/**
 * Makes the page keep no answers for developers' tools, which nobody has open: it would copy and encode each answer in one
 * task. `playwright-core` always has them kept, and offers no way to change that.
 */
async function keepNoAnswers(page: Page): Promise<void> {
  const { _connection } = page as unknown as DrivenPage;
  await _connection.toImpl(page).delegate._mainFrameSession._client.send('Network.disable');
}
