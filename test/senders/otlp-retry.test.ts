import assert from 'node:assert/strict';
import { test } from 'node:test';
import { must } from '../../engine/assert.ts';
import { type ErrorCode, ServiceError } from '../../src/errors.ts';
import { GrpcServer } from '../../src/grpc/grpc-server.ts';
import type { LogIntake } from '../../src/store/log-intake.ts';
import { DEFAULT_SOURCE, fakeIntake, PUBLIC, type Stored, withApp } from '../src/harness.ts';
import { documentedOptions } from './documented-sender.ts';
import { GrpcTap } from './grpc-tap.ts';
import { HttpTap } from './http-tap.ts';
import { missingPackages, startNodeProgram } from './node-program.ts';
import { eventName } from './sender.ts';
import type { Tap } from './tap.ts';

const TIME_MS_MAX = 5 * 60_000;

/** Refuses the first post, and stores the others. */
function refusingOnce(stored: Stored[], code: ErrorCode): LogIntake {
  const intake = fakeIntake(stored);
  let isRefused = false;
  return {
    ...intake,
    decode: (posted) => {
      if (isRefused) return intake.decode(posted);
      isRefused = true;
      return Promise.reject(new ServiceError(code, 'not this one'));
    },
  };
}

type Parts = {
  readonly intake: LogIntake;
  readonly answerCount: number;
  readonly options?: object;
};

type Post = { readonly tap: Tap; readonly dropped: ReadonlySet<string> };

/** Lets an exporter post one record, until it was answered so many times. */
async function postOne(program: string, parts: Parts): Promise<Post> {
  let post: Post | undefined;
  await withApp({ intake: parts.intake }, async (app) => {
    const deadline = AbortSignal.timeout(TIME_MS_MAX);
    const server = await GrpcServer.listen(app.grpc, { host: '127.0.0.1', port: 0 });
    const tap =
      program === 'otlp-grpc'
        ? await GrpcTap.open(server.port, deadline)
        : await HttpTap.open(app.port, deadline);
    try {
      post = { tap, dropped: await logOne(program, tap, parts) };
    } finally {
      await tap.close();
      await server.drain({ drainMs: 0 });
    }
  });
  return must(post);
}

/** Tells what the exporter dropped. */
async function logOne(
  program: string,
  tap: Tap,
  { answerCount, options }: Parts,
): Promise<ReadonlySet<string>> {
  const target = {
    port: tap.port,
    token: PUBLIC,
    source: DEFAULT_SOURCE,
    project: 'alpha',
    folder: '',
  };
  const told = documentedOptions(`@opentelemetry/exporter-logs-${program}`, target);
  const sender = await startNodeProgram(program, target, { ...told, ...options });
  try {
    sender.log({ message: eventName(1) });
    await tap.until(() => tap.exchanges.length === answerCount);
  } finally {
    // What it would still post is posted now.
    await sender.stop();
  }
  return sender.dropped;
}

test('options apply to any port, even one that starts like that of the page', () => {
  const target = { port: 40001, token: PUBLIC, source: DEFAULT_SOURCE, project: '', folder: '' };
  const options = documentedOptions('@opentelemetry/exporter-logs-otlp-proto', target);
  assert.match(JSON.stringify(options), /"http:\/\/127\.0\.0\.1:40001\//);
});

/** How a post is answered that is refused with a code at first. */
const OVER_HTTP = [
  ['ingest_overloaded', [429, 200]],
  ['storage_failed', [503, 200]],
  ['body_too_large', [413]],
  ['invalid_body', [400]],
] as const;

/** This exporter posts nothing twice, whatever the specification allows. */
const OVER_GRPC = [
  ['ingest_overloaded', [8]],
  ['storage_failed', [14]],
  ['body_too_large', [3]],
  ['invalid_body', [3]],
] as const;

for (const program of ['otlp-http', 'otlp-proto', 'otlp-grpc']) {
  const isGrpc = program === 'otlp-grpc';
  for (const [code, statuses] of isGrpc ? OVER_GRPC : OVER_HTTP) {
    const outcome = statuses.length > 1 ? 'posts again after' : 'gives up at';
    test(`${program} ${outcome} ${statuses[0]}, ${code}`, { skip: missingPackages() }, async () => {
      const stored: Stored[] = [];
      const intake = refusingOnce(stored, code);
      const { tap, dropped } = await postOne(program, { intake, answerCount: statuses.length });
      assert.deepEqual(
        tap.exchanges.map(({ status }) => status),
        statuses,
      );
      assert.equal(stored.length, statuses.length - 1);
      assert.deepEqual([...dropped], statuses.length > 1 ? [] : [eventName(1)]);
    });
  }

  test(`${program} sends compressed posts`, { skip: missingPackages() }, async () => {
    const stored: Stored[] = [];
    const options = { compression: 'gzip' };
    const { tap } = await postOne(program, {
      intake: fakeIntake(stored),
      answerCount: 1,
      options,
    });
    const encoding = isGrpc ? 'grpc-encoding' : 'content-encoding';
    assert.equal(tap.exchanges[0]!.requestHeaders.get(encoding), 'gzip');
    assert.match(JSON.stringify(stored), new RegExp(eventName(1)));
  });
}
