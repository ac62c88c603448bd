import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { compress } from 'snappyjs';
import type { Random } from '../../src/demo/traffic/random.ts';
import { encode, type Field } from '../src/doors/mutated-protobuf.ts';
import { RECEIVERS, type Receiver } from '../src/doors/receivers.ts';
import { lokiPushBytes } from '../support/loki-push.ts';
import { zstdFrame } from '../support/zstd-frame.ts';

/** How a body may be compressed, by its name in `Content-Encoding`. */
export const ENCODINGS = {
  identity: (body: Buffer) => body,
  gzip: (body: Buffer) => gzipSync(body),
  deflate: (body: Buffer) => deflateSync(body),
  br: (body: Buffer) => brotliCompressSync(body),
  zstd: (body: Buffer) => zstdFrame(body),
  snappy: (body: Buffer) => Buffer.from(compress(body)),
} as const satisfies Readonly<Record<string, (body: Buffer) => Buffer>>;

type Encoding = keyof typeof ENCODINGS;

const ENCODING_NAMES = Object.keys(ENCODINGS) as readonly Encoding[];

/** What happens to the service while it gets posts. */
export const FAULTS = ['kill', 'stop', '429', '503', 'slow disk'] as const;

export type Fault = (typeof FAULTS)[number];

export type MatrixReceiver = {
  readonly path: string;
  readonly type: string;
  /** Of a post whose events are all stored. */
  readonly success: number;
  /** Of a post for which there is no room. */
  readonly overload: 429 | 503;
  /** Whether answers that ask for a repetition end before their last byte, so that their reader sees a lost connection. */
  readonly cutsRefusals: boolean;
  /** What it takes; it answers any other with 415. */
  readonly encodings: readonly Encoding[];
  readonly eventCount: number;
  /** A body in which each event holds the text. */
  readonly body: (text: string) => Buffer;
};

/** A receiver whose posts are compressed in one way while one thing happens. */
export type Cell = {
  readonly receiver: MatrixReceiver;
  readonly encoding: Encoding;
  readonly fault: Fault;
};

/** Receivers that other tests of receivers leave out, because their bodies have one event. */
const SINGLE: readonly Receiver[] = [
  { path: '/postgres.logs/_doc', type: 'application/json', body: '{"message":"Q"}' },
  { path: '/logs/vercel', type: 'application/json', body: '[{"message":"Q"}]' },
];

const SUCCESSES: ReadonlyMap<string, number> = new Map([
  ['/gelf', 202],
  ['/upload', 202],
  ['/api/v2/logs', 202],
  ['/loki/api/v1/push', 204],
  ['/postgres.logs/_doc', 201],
]);

/** Some senders of Elasticsearch repeat a post only after a lost connection. */
const CUT_PATHS: ReadonlySet<string> = new Set(['/_bulk', '/postgres.logs/_doc']);

/** Bodies with lengths before their texts, which a longer text changes. */
const BODIES: ReadonlyMap<string, (text: string) => Uint8Array> = new Map([
  ['/v1/logs application/x-protobuf', otlpBody],
  ['/loki/api/v1/push application/x-protobuf', lokiBody],
  ['/upload application/vnd.fdo.journal', journalBody],
  ['/logs/syslog text/plain', syslogBody],
]);

export const MATRIX_RECEIVERS: readonly MatrixReceiver[] = [
  ...RECEIVERS.map((receiver) => toMatrixReceiver(receiver, 2)),
  ...SINGLE.map((receiver) => toMatrixReceiver(receiver, 1)),
];

function toMatrixReceiver(receiver: Receiver, eventCount: number): MatrixReceiver {
  const { path, type, body, enclose } = receiver;
  const make = BODIES.get(`${path} ${type}`);
  return {
    ...{ path, type, eventCount },
    success: SUCCESSES.get(path) ?? 200,
    // Some versions of Fluent Bit drop what gets 429 from Splunk.
    overload: path.startsWith('/services/collector') ? 503 : 429,
    cutsRefusals: CUT_PATHS.has(path),
    // The journal is stored in parts while it arrives, not compressed.
    encodings: path === '/upload' ? ['identity'] : ENCODING_NAMES,
    body: (text) => {
      const whole = Buffer.from(make?.(text) ?? String(body).replaceAll('Q', text));
      return Buffer.from(enclose?.(whole) ?? whole);
    },
  };
}

function otlpBody(text: string): Uint8Array {
  const record = (body: string): Field => ({
    number: 2,
    value: [{ number: 5, value: [{ number: 1, value: Buffer.from(body) }] }],
  });
  const scopeLogs: Field = { number: 2, value: [record(`${text}a`), record(`${text}b`)] };
  return encode([{ number: 1, value: [scopeLogs] }]);
}

function lokiBody(text: string): Uint8Array {
  const seconds = 1_768_478_100n;
  const lines = ['a', 'b'].map((line) => ({ seconds, line }));
  return lokiPushBytes([{ labels: `{app="${text}"}`, lines }]);
}

function journalBody(text: string): Uint8Array {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length + 1));
  const first = `__REALTIME_TIMESTAMP=1768478100000000\nMESSAGE=${text}a\n\nMESSAGE\n`;
  return Buffer.concat([Buffer.from(first), length, Buffer.from(`${text}b\n\n`)]);
}

function syslogBody(text: string): Uint8Array {
  const framed = `<13>1 2026-01-15T11:55:00+00:00 host app - - - ${text}a`;
  return Buffer.from(`${framed.length} ${framed}\n<13>Jan 15 11:55:00 host app: ${text}b\n`);
}

/** All cells. */
export function allCells(): readonly Cell[] {
  return MATRIX_RECEIVERS.flatMap((receiver) =>
    ENCODING_NAMES.flatMap((encoding) => FAULTS.map((fault) => ({ receiver, encoding, fault }))),
  );
}

/**
 * The fewest cells in which each receiver has each encoding, each receiver each fault, and each encoding each fault: a
 * cell for each receiver and encoding. The faults go round over the encodings, and begin one later for each receiver.
 */
export function pairCells(random: Random): readonly Cell[] {
  const encodings = shuffle(ENCODING_NAMES, random);
  const faults = shuffle(FAULTS, random);
  return shuffle(MATRIX_RECEIVERS, random).flatMap((receiver, start) =>
    encodings.map((encoding, index) => {
      const fault = faults[(start + index) % faults.length]!;
      return { receiver, encoding, fault };
    }),
  );
}

/** The same items in a random order. */
export function shuffle<T>(items: readonly T[], random: Random): readonly T[] {
  const keyed = items.map((item) => ({ item, key: random.next() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}
