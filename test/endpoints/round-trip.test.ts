import { equal } from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import fc from 'fast-check';
import { METADATA } from '../fuzz/random-document.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { NOW, us } from '../scripts/script.ts';
import { budgetOf } from '../support/budget.ts';
import { EngineUnderTest } from '../support/engine-under-test.ts';
import {
  canonicalText,
  type Exact,
  exactText,
  parseExact,
  withListedMaps,
} from '../support/exact-json.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';

const EDGE = 'cloudflare.logs.prod';
const NOW_US = us(NOW);

let engine: EngineUnderTest;
let service: ServiceUnderTest;
before(async () => {
  [engine, service] = await Promise.all([EngineUnderTest.start(), ServiceUnderTest.start()]);
});
after(() => Promise.all([engine?.close(), service?.stop()]));

let projectCount = 0;

/** Posts events with these metadata texts, and gives the texts of the rows that come back. */
type Trip = (metadata: readonly string[]) => Promise<string>;

const TRIPS: Readonly<Record<string, Trip>> = {
  'over HTTP': async (metadata) => {
    const project = `p${projectCount++}`;
    await service.postText(EDGE, eventsText(project, metadata));
    const body = await service.callText('logs.all', { project });
    equal(body.slice(0, 10) + body.slice(-1), '{"result":}', 'an answer is {"result":[…]}');
    return body.slice(10, -1);
  },
  sealed: async (metadata) => {
    engine.clear();
    await engine.postText(EDGE, eventsText('p', metadata), NOW_US);
    await engine.seal();
    return engine.callText('logs.all', { project: 'p' }, NOW_US);
  },
};

/** Equal times, so that the last posted is the first to come back. */
function eventsText(project: string, metadata: readonly string[]): string {
  const events = metadata.map(
    (text, index) => `{"id":"${index}","project":"${project}","metadata":${text}}`,
  );
  return `[${events.join(',')}]`;
}

/** The row of one event, as JSON; `metadata` is what it must give back. */
function rowText(metadata: string): string {
  return `[{"id":"0","timestamp":${NOW_US},"event_message":null,"metadata":${metadata}}]`;
}

/** Checks that `posted` comes back as `expected`: the same text but for what JSON leaves free. */
async function expectBack(trip: Trip, posted: string, expected: string): Promise<void> {
  equal(
    canonicalText(parseExact(await trip([posted]))),
    canonicalText(parseExact(rowText(expected))),
  );
}

for (const [state, trip] of Object.entries(TRIPS)) {
  suite(state, () => {
    test('metadata of any shape is returned as sent, with each map in a list', async (context) => {
      const seed = fuzzSeed() | 0;
      context.diagnostic(`seed ${seed}`);
      const batch = fc.array(METADATA, { minLength: 1, maxLength: 20 });
      await fc.assert(
        fc.asyncProperty(batch, async (documents) => {
          const rows = parseExact(await trip(documents.map(exactText)));
          equal(canonicalText(rows), canonicalText(rowsOf(documents)));
        }),
        { seed, numRuns: budgetOf('WEIR_FUZZ_RUNS', { fast: 5, all: 40 }) },
      );
    });

    test('integers keep all their digits, to 64 bits and beyond', async () => {
      const digits = [
        '0',
        '-1',
        '9007199254740991',
        '9007199254740992',
        '9007199254740993',
        '-9007199254740993',
        '9223372036854775807',
        '-9223372036854775808',
        '18446744073709551615',
        '-6203423456789012345',
        '123456789012345678901234567890',
      ];
      const posted = `{"one":${digits[5]},"list":[${digits.join(',')}]}`;
      equal(await trip([posted]), rowText(`[${posted}]`));
    });

    test('nulls, empty strings, lists and maps are kept', async () => {
      await expectBack(
        trip,
        '{"n":null,"s":"","l":[],"m":{},"ln":[null],"lm":[{}],"ll":[[]],"f":false,"z":0}',
        '[{"n":null,"s":"","l":[],"m":[{}],"ln":[null],"lm":[{}],"ll":[[]],"f":false,"z":0}]',
      );
    });

    test('a map is wrapped if it is the value of a field, and not elsewhere', async () => {
      await expectBack(
        trip,
        '{"a":{"b":{"c":1}},"l":[{"d":{}},[{"e":{"f":1}}],7,null]}',
        '[{"a":[{"b":[{"c":1}]}],"l":[{"d":[{}]},[{"e":[{"f":1}]}],7,null]}]',
      );
    });

    test('keys keep their order, whatever their names', async () => {
      const posted = `{"b":1,"a":2,"__proto__":3,"constructor":{"prototype":4},"":5,"a.b":6,"A":7,"\\u0000":8,"toString":9}`;
      await expectBack(trip, posted, `[${posted.replace('{"prototype":4}', '[{"prototype":4}]')}]`);
    });

    test('keys that look like indexes are kept beside others', async () => {
      const posted = '{"b":1,"10":2,"2":3,"01":4,"-1":5,"4294967295":6,"4294967296":7,"0":{"1":8}}';
      await expectBack(trip, posted, `[${posted.replace('{"1":8}', '[{"1":8}]')}]`);
    });

    test('of duplicate keys the last value counts', async () => {
      await expectBack(
        trip,
        '{"a":1,"a":{"x":1,"x":[2]},"b":{"c":1},"b":null,"d":"x","\\u0064":"y"}',
        '[{"a":[{"x":[2]}],"b":null,"d":"y"}]',
      );
    });

    test('every plane of Unicode, lone surrogates and control characters are kept', async () => {
      const planes = Array.from({ length: 17 }, (_, plane) =>
        String.fromCodePoint(plane * 0x10000 + 0x41, plane * 0x10000 + 0xfffd),
      ).join('');
      const controls = String.fromCharCode(...Array.from({ length: 0xa0 }, (_, code) => code));
      const lone = 'a\ud800b\udc00c\udfff\ud83d \ud83e\udd8a\udbff';
      const odd = '\u2028\u2029\ufeff\ufffe\uffff"\\/';
      for (const text of [planes, controls, lone, odd]) {
        const json = JSON.stringify({ [text]: text, list: [text, { in: text }] });
        await expectBack(trip, json, `[${json}]`);
      }
    });

    test('escapes and raw characters mean the same', async () => {
      await expectBack(
        trip,
        '{"\\u0061":"\\u00e9\\ud83e\\udd8a\\/\\b\\f\\n\\r\\t\\"\\\\","raw":"é🦊"}',
        JSON.stringify([{ a: 'é🦊/\b\f\n\r\t"\\', raw: 'é🦊' }]),
      );
    });

    test('a string of a megabyte is returned whole', async () => {
      const text = JSON.stringify({ a: 'é🦊"\n'.repeat(125_000), b: `${'x'.repeat(1e6)}!` });
      await expectBack(trip, text, `[${text}]`);
    });

    for (const depth of [31, 32, 33, 100, 1_000, 50_000]) {
      test(`maps ${depth} levels deep are returned, each in a list`, async () => {
        const posted = `${'{"a":'.repeat(depth)}{"b":1}${'}'.repeat(depth)}`;
        const expected = `${'[{"a":'.repeat(depth)}[{"b":1}]${'}]'.repeat(depth)}`;
        equal((await trip([posted])) === rowText(expected), true);
      });

      test(`lists ${depth} levels deep are returned unchanged`, async () => {
        const posted = `{"a":${'['.repeat(depth)}{"b":{"c":1}}${']'.repeat(depth)}}`;
        equal(
          (await trip([posted])) === rowText(`[${posted.replace('{"c":1}', '[{"c":1}]')}]`),
          true,
        );
      });
    }

    test('ten thousand keys in one map are returned', async () => {
      const fields = Array.from({ length: 10_000 }, (_, index) => `"key ${index}":{"n":${index}}`);
      await expectBack(
        trip,
        `{${fields.join(',')}}`,
        `[{${fields.map((field) => field.replace(/(\{.*\})/, '[$1]')).join(',')}}]`,
      );
    });

    test('a hundred events with a hundred different keys each are returned', async () => {
      const documents = Array.from(
        { length: 100 },
        (_, event) =>
          new Map(
            Array.from({ length: 100 }, (_, key) => [`k${event} ${key}`, BigInt(key)] as const),
          ),
      );
      const rows = parseExact(await trip(documents.map(exactText)));
      equal(canonicalText(rows), canonicalText(rowsOf(documents)));
    });
  });
}

/** The rows of events with these metadata: the last first, once for each element. */
function rowsOf(documents: readonly Exact[]): Exact {
  return documents
    .flatMap((document, index) => {
      const elements = Array.isArray(document) ? document : [document];
      const row = new Map<string, Exact>([
        ['id', String(index)],
        ['timestamp', BigInt(NOW_US)],
        ['event_message', null],
        ['metadata', withListedMaps(elements)],
      ]);
      return elements.map(() => row);
    })
    .reverse();
}
