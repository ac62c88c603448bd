import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { must } from '../../engine/assert.ts';
import { type Compiled, compiled } from '../crash/compiled.ts';
import { readText } from '../support/source-files.ts';
import { otlpJson, otlpProtobuf } from './otlp.ts';
import { logThroughOutages } from './outages.ts';
import { pinoElasticsearch } from './pino-elasticsearch.ts';
import { pinoLogflare } from './pino-logflare.ts';
import { pinoLoki } from './pino-loki.ts';
import { PostedService } from './posted-service.ts';
import { rsyslog } from './rsyslog.ts';
import { eventName, eventNames } from './sender.ts';
import { syslogNg } from './syslog-ng.ts';

const SENDERS = [
  pinoLogflare,
  pinoLoki,
  pinoElasticsearch,
  otlpJson,
  otlpProtobuf,
  syslogNg,
  rsyslog,
];

test('the README names each sender, in the version that is tried', () => {
  const page = readText('README.md');
  const { dependencies } = JSON.parse(readText('test/senders/package.json')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  for (const { name } of SENDERS) {
    assert.ok(page.includes(`${name}`), name);
    const [program, version] = name.split(' ');
    assert.equal(version, dependencies[program!], name);
  }
});

let main: Compiled | undefined;

before(async () => {
  if (SENDERS.some((sender) => sender.missing() === undefined)) {
    main = await compiled('src/main.ts');
  }
});

after(() => main?.remove());

for (const sender of SENDERS) {
  const options = { skip: sender.missing() };

  test(`an event of ${sender.name} arrives as the README tells`, options, async () => {
    await PostedService.use(must(main).path, sender, async (posted) => {
      // Some seconds ago, to the millisecond.
      const timeMs = Math.trunc(Date.now() / 1000) * 1000 - 5_877;
      const message = `${eventName(1)} was made`;
      posted.sender.log({ message, timeMs, fields: { order: 7 } });
      await posted.tap.until(() =>
        posted.tap.exchanges.some((e) => sender.acknowledged(e).length > 0),
      );
      const rows = await posted.rows();
      assert.deepEqual(
        rows.map((row) => [...new Set(eventNames(row.event_message))]),
        [[eventName(1)]],
      );
      assert.equal(rows[0]!.timestamp, timeMs * 1000);
      sender.arrives(rows[0]!);
    });
  });

  test(`${sender.name} loses nothing acknowledged, and recovers by itself`, options, async () => {
    await PostedService.use(must(main).path, sender, (posted) => logThroughOutages(sender, posted));
  });
}
