import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathInRepository, readText } from '../support/source-files.ts';

/** What the tests use of `playwright-core`, which is installed below this folder only. */
type Locator = {
  click(options?: { readonly modifiers?: readonly string[] }): Promise<void>;
  dblclick(): Promise<void>;
  fill(text: string): Promise<void>;
  press(keys: string): Promise<void>;
  hover(): Promise<void>;
  focus(): Promise<void>;
  waitFor(options?: {
    readonly state?: 'visible' | 'hidden' | 'attached' | 'detached';
  }): Promise<void>;
  count(): Promise<number>;
  first(): Locator;
  last(): Locator;
  nth(index: number): Locator;
  locator(selector: string): Locator;
  filter(options: { readonly hasText: string | RegExp }): Locator;
  getByRole(role: string, options?: RoleOptions): Locator;
  getByLabel(text: string | RegExp, options?: { readonly exact?: boolean }): Locator;
  getByText(text: string | RegExp, options?: { readonly exact?: boolean }): Locator;
  selectOption(value: string): Promise<readonly string[]>;
  innerText(): Promise<string>;
  allInnerTexts(): Promise<readonly string[]>;
  inputValue(): Promise<string>;
  isVisible(): Promise<boolean>;
  getAttribute(name: string): Promise<string | null>;
  boundingBox(): Promise<Box | null>;
  evaluate<T>(work: (element: never) => T): Promise<T>;
};

type RoleOptions = {
  readonly name?: string | RegExp;
  readonly exact?: boolean;
  readonly pressed?: boolean;
  readonly expanded?: boolean;
  readonly selected?: boolean;
};

type Box = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};

export type Page = {
  goto(url: string): Promise<unknown>;
  url(): string;
  title(): Promise<string>;
  reload(): Promise<unknown>;
  goBack(): Promise<unknown>;
  close(): Promise<void>;
  locator(selector: string): Locator;
  getByRole(role: string, options?: RoleOptions): Locator;
  getByLabel(text: string | RegExp, options?: { readonly exact?: boolean }): Locator;
  getByText(text: string | RegExp, options?: { readonly exact?: boolean }): Locator;
  getByPlaceholder(text: string): Locator;
  evaluate<T>(work: string | (() => T)): Promise<T>;
  waitForFunction(work: string): Promise<unknown>;
  waitForEvent(name: 'download'): Promise<Download>;
  addInitScript(script: string): Promise<void>;
  setViewportSize(size: { readonly width: number; readonly height: number }): Promise<void>;
  emulateMedia(media: { readonly colorScheme: 'light' | 'dark' }): Promise<void>;
  screenshot(options: { readonly path: string }): Promise<unknown>;
  on(name: 'dialog', listener: (dialog: Dialog) => void): void;
  on(name: 'console', listener: (message: ConsoleMessage) => void): void;
  on(name: 'pageerror', listener: (error: Error) => void): void;
  readonly keyboard: {
    press(keys: string): Promise<void>;
    type(text: string): Promise<void>;
  };
  readonly mouse: {
    move(x: number, y: number, options?: { readonly steps: number }): Promise<void>;
    down(): Promise<void>;
    up(): Promise<void>;
    wheel(x: number, y: number): Promise<void>;
  };
};

type Download = {
  path(): Promise<string>;
  suggestedFilename(): string;
  /** Why it failed; null if it did not. */
  failure(): Promise<string | null>;
};

type Dialog = { message(): string; dismiss(): Promise<void> };

type ConsoleMessage = { type(): string; text(): string };

export type BrowserContext = {
  newPage(): Promise<Page>;
  grantPermissions(names: readonly string[]): Promise<void>;
  setDefaultTimeout(ms: number): void;
  close(): Promise<void>;
};

/** Commands of Chromium for developers. */
type CDPSession = {
  send(command: 'SystemInfo.getProcessInfo'): Promise<{
    readonly processInfo: readonly { readonly type: string; readonly id: number }[];
  }>;
};

export type Browser = {
  newContext(options: object): Promise<BrowserContext>;
  newBrowserCDPSession(): Promise<CDPSession>;
  close(): Promise<void>;
};

const PACKAGE = 'test/console/package.json';
const CHROMIUM = process.env['WEIR_CHROMIUM'] ?? '/usr/bin/chromium';

/** A browser has started by then, on a machine that is busy. */
const START_MS_MAX = 120_000;

/** Why no browser can be driven here; `false` if one can. */
export function missingBrowser(): string | false {
  if (!existsSync(CHROMIUM)) return `there is no ${CHROMIUM}`;
  const isInstalled = ['playwright-core', 'axe-core'].every((name) =>
    existsSync(pathInRepository(`test/console/node_modules/${name}`)),
  );
  return isInstalled ? false : 'run npm ci --ignore-scripts --prefix test/console';
}

export async function launchBrowser(): Promise<Browser> {
  const load = createRequire(pathInRepository(PACKAGE));
  const { chromium } = load('playwright-core') as {
    readonly chromium: { launch(options: object): Promise<Browser> };
  };
  // Tests run as any user, and in containers that have no namespaces left for a sandbox.
  return await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox'],
    timeout: START_MS_MAX,
  });
}

/** The program of axe, for a page to run. */
export function axeProgram(): string {
  return readText('test/console/node_modules/axe-core/axe.min.js');
}
