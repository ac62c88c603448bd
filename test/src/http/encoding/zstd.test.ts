import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type InflateTerms, inflateBody } from '../../../../src/http/encoding/inflate-body.ts';
import { hasZstd, inflateZstd, ZSTD_FRAMES_MAX } from '../../../../src/http/encoding/zstd.ts';
import { runsOf } from '../../../support/budget.ts';
import { zstdFrame } from '../../../support/zstd-frame.ts';

const MEGABYTE = 1024 * 1024;

type Inflate = (body: Buffer, admit?: (size: number) => void) => Promise<Buffer>;

/** What this version of Node uses, and what those without zstd use. */
const WAYS: readonly (readonly [name: string, inflate: Inflate])[] = [
  [
    hasZstd ? "Node's zstd" : 'as in this Node, without zstd',
    async (body, admit = () => {}) => {
      const terms: InflateTerms = { encoding: 'zstd', bytesMax: MEGABYTE, admit };
      return Buffer.concat(await inflateBody(body, terms));
    },
  ],
  ['the library', (body, admit = () => {}) => inflateZstd(body, MEGABYTE, admit)],
];

/** Made by the program `zstd` 1.5: from a file, from a pipe, and without a checksum. */
const EVENTS = '[{"event_message":"a"},{"event_message":"b"}]';
const MADE = [
  'KLUv/SQtDQEA2Ft7ImV2ZW50X21lc3NhZ2UiOiJhIn0sYiJ9XQEA05tNdaIDmg==',
  'KLUv/QRYDQEA2Ft7ImV2ZW50X21lc3NhZ2UiOiJhIn0sYiJ9XQEA05tNdaIDmg==',
  'KLUv/QBYDQEA2Ft7ImV2ZW50X21lc3NhZ2UiOiJhIn0sYiJ9XQEA05tN',
].map((text) => Buffer.from(text, 'base64'));

/** 200 events, by `zstd -19`. */
const LONG = Buffer.from(
  'KLUv/WQrINUJAJaVMBpgTZoDdmZxPqJphAhhQETppaVNslCPIAgvATcAKAAgAGZmZlVVVVVVRERERET//9+TeFa0oBIwgIhjkTQGTwaSyAIZAA4FQ4AQWBiLSGRxKCSPZbIEKIj///+bzWaz2Ww2m81t27btOeecc845mZmZmZmIiIiIiHd3d3d3ZmYB933f933f923btm3btm3bdV3XdV3XdU3TNE3TNE3T/3+JSqC99957772fz+fz+Xw+n895nud5nud5juM4juM4juMBgMeoERD6/X8D0BvVARL4/38Fhz+KREkklEJRKAqlUEmKRIkolEKlKAqlpEiKhBLFJtjlNblurYF1W01Ut9SEmkQAAAAAAEAAAAAIAAAAAAAAEAAAAABQToPpUhpIl9EguoQmoMtn8CxO3+lr+k7fOQWEAUgVjl0JIw==',
  'base64',
);

for (const [name, inflate] of WAYS) {
  test(`${name}: bodies of the program zstd are read`, async () => {
    for (const body of MADE) equal(`${await inflate(body)}`, EVENTS);
    const all = JSON.parse(`${await inflate(LONG)}`) as { readonly event_message: string }[];
    equal(all.length, 200);
    equal(all[199]?.event_message, 'GET /rest/v1/items 199');
  });

  test(`${name}: several frames come to one body`, async () => {
    // Between them one that is to be skipped.
    const skipped = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
    equal(`${await inflate(Buffer.concat([MADE[0]!, skipped, MADE[1]!]))}`, EVENTS + EVENTS);
  });

  test(`${name}: frames come to their content`, async () => {
    const part = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
      fc.integer({ min: 1, max: 200_000 }).map((size) => Buffer.alloc(size, 'x')),
    );
    const property = fc.asyncProperty(
      fc.array(part, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      async (parts, namesSize) => {
        const content = Buffer.concat(parts);
        deepEqual(await inflate(zstdFrame(content, { namesSize })), content);
      },
    );
    await fc.assert(property, { numRuns: runsOf(50) });
  });

  test(`${name}: what is cut off or damaged is refused`, async () => {
    const [body] = MADE;
    for (let end = 1; end < body!.length; end++) {
      await rejects(inflate(body!.subarray(0, end)), `the first ${end} bytes`);
    }
    for (let at = 6; at < body!.length; at++) {
      const damaged = Buffer.from(body!);
      damaged[at] = damaged[at]! ^ 0x20;
      await rejects(inflate(damaged), `byte ${at}`);
    }
    await rejects(inflate(Buffer.concat([body!, Buffer.from('more')])));
  });

  test(`${name}: no more is made than is admitted`, async () => {
    let size = 0;
    const admit = (bytes: number): void => {
      size += bytes;
      if (size > MEGABYTE) throw new Error('stopped');
    };
    const content = Buffer.alloc(200 * MEGABYTE, ' ');
    await rejects(inflate(zstdFrame(content), admit), /stopped/);
    size = 0;
    await rejects(inflate(zstdFrame(content, { namesSize: false }), admit));
    ok(size <= 2 * MEGABYTE, `${size}`);
    size = 0;
    equal((await inflate(zstdFrame(content.subarray(0, MEGABYTE)), admit)).length, MEGABYTE);
    equal(size, MEGABYTE);
  });
}

test('frames are decompressed one by one up to a number', { skip: !hasZstd }, async () => {
  const [[, inflate]] = WAYS as [(typeof WAYS)[number]];
  const frames = (count: number): Buffer =>
    Buffer.concat(Array.from({ length: count }, () => zstdFrame(Buffer.from('a'))));
  equal((await inflate(frames(ZSTD_FRAMES_MAX))).length, ZSTD_FRAMES_MAX);
  await rejects(inflate(frames(ZSTD_FRAMES_MAX + 1)), /more than 256 frames/);
});

test('the library says what may be wrong', async () => {
  await rejects(
    inflateZstd(Buffer.from('no zstd'), 10, () => {}),
    (error: Error) => {
      match(error.message, /^it is damaged, empty, or has more than 10 bytes$/);
      return true;
    },
  );
});
