import type { Random } from '../../src/demo/traffic/random.ts';

/** What a client says of itself. */
export type Client = {
  readonly userAgent: string;
  readonly accept: string;
  /** The library that makes its requests, and that library's version. */
  readonly library: string | null;
  readonly isBrowser: boolean;
};

const BROWSER_SYSTEMS = [
  'Windows NT 10.0; Win64; x64',
  'Macintosh; Intel Mac OS X 10_15_7',
  'X11; Linux x86_64',
  'Linux; Android 10; K',
  'X11; CrOS x86_64 14541.0.0',
];

const PHONES = ['SM-S921B', 'SM-A546B', 'Pixel 9', 'Redmi Note 13', 'moto g84', '2312DRA50G'];

/** A client whose name and versions are drawn: some thousand different user agents, a few of them frequent. */
export function drawClient(random: Random): Client {
  const kind = random.zipf(KINDS.length);
  return KINDS[kind]!(random);
}

const KINDS: readonly ((random: Random) => Client)[] = [
  (random) => {
    const version = 142 - random.zipf(20);
    return browser(
      random,
      `Mozilla/5.0 (${random.pick(BROWSER_SYSTEMS)}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`,
    );
  },
  (random) => {
    const system = `${18 - random.zipf(3)}_${random.below(7)}`;
    return browser(
      random,
      `Mozilla/5.0 (iPhone; CPU iPhone OS ${system} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${system.replace('_', '.')} Mobile/15E148 Safari/604.1`,
    );
  },
  (random) => ({
    userAgent: `Dart/3.${9 - random.zipf(6)} (dart:io)`,
    accept: '*/*',
    library: `supabase-flutter/2.${10 - random.zipf(9)}.${random.below(4)}`,
    isBrowser: false,
  }),
  (random) => {
    const version = 144 - random.zipf(24);
    return browser(
      random,
      `Mozilla/5.0 (${random.pick(BROWSER_SYSTEMS)}; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`,
    );
  },
  (random) => ({
    userAgent: 'node',
    accept: '*/*',
    library: `supabase-js-node/2.${58 - random.zipf(30)}.${random.below(5)}`,
    isBrowser: false,
  }),
  (random) => ({
    userAgent: `Dalvik/2.1.0 (Linux; U; Android ${15 - random.zipf(5)}; ${random.pick(PHONES)} Build/AP${random.below(4)}A.${240_000 + random.below(9_999)}.00${random.below(10)})`,
    accept: 'application/json',
    library: null,
    isBrowser: false,
  }),
  (random) => ({
    userAgent: `python-httpx/0.${28 - random.zipf(5)}.${random.below(3)}`,
    accept: 'application/json',
    library: `supabase-py/2.${22 - random.zipf(12)}.${random.below(3)}`,
    isBrowser: false,
  }),
  (random) => ({
    userAgent: `okhttp/${5 - random.zipf(2)}.${random.below(13)}.0`,
    accept: 'application/vnd.pgrst.object+json',
    library: `supabase-kt/3.${2 - random.zipf(3)}.${random.below(6)}`,
    isBrowser: false,
  }),
  (random) => ({
    userAgent: `curl/8.${16 - random.zipf(12)}.0`,
    accept: '*/*',
    library: null,
    isBrowser: false,
  }),
];

function browser(random: Random, userAgent: string): Client {
  return {
    userAgent,
    accept: random.pick(['*/*', 'application/json', 'application/vnd.pgrst.object+json']),
    library: `supabase-js-web/2.${58 - random.zipf(30)}.${random.below(5)}`,
    isBrowser: true,
  };
}
