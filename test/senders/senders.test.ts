import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readText } from '../support/source-files.ts';
import { datadog } from './datadog.ts';
import { documentedSender } from './documented-sender.ts';
import { elasticsearch } from './elasticsearch.ts';
import { otlpGrpc, otlpJson, otlpProtobuf } from './otlp.ts';
import { logThroughOutages } from './outages.ts';
import { pinoElasticsearch } from './pino-elasticsearch.ts';
import { pinoLogflare } from './pino-logflare.ts';
import { pinoLoki } from './pino-loki.ts';
import { PostedService } from './posted-service.ts';
import { rsyslog } from './rsyslog.ts';
import { eventName, eventNames } from './sender.ts';
import { splunkLogging } from './splunk-logging.ts';
import { syslogNg } from './syslog-ng.ts';
import { winstonElasticsearch } from './winston-elasticsearch.ts';
import { winstonLog2gelf } from './winston-log2gelf.ts';
import { winstonLoki } from './winston-loki.ts';

const SENDERS = [
  pinoLogflare,
  pinoLoki,
  winstonLoki,
  pinoElasticsearch,
  winstonElasticsearch,
  elasticsearch,
  otlpJson,
  otlpProtobuf,
  otlpGrpc,
  splunkLogging,
  datadog,
  winstonLog2gelf,
  syslogNg,
  rsyslog,
];

const { dependencies: PACKAGES } = JSON.parse(readText('test/senders/package.json')) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

for (const sender of SENDERS) {
  const { version } = documentedSender(sender.name);
  const found = sender.version();
  const isOther = found !== undefined && !`${found}.`.startsWith(`${version}.`);
  // Each release of Debian has a version of its own; packages are those that are asked for.
  const isDaemon = PACKAGES[sender.name] === undefined;
  const skip = isDaemon ? (isOther ? `here it is ${found}` : sender.missing()) : false;
  test(`docs/ingest.md names the tested version of ${sender.name}`, { skip }, () => {
    assert.equal(isOther, false, `${version} in docs/ingest.md, ${found} here`);
    assert.equal(PACKAGES[sender.name] ?? version, version);
  });
}

for (const sender of SENDERS) {
  const options = { skip: sender.missing() };

  test(`an event of ${sender.name} arrives as docs/ingest.md says`, options, async () => {
    await PostedService.use(sender, async (posted) => {
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
      const { timestamp } = rows[0]!;
      if (sender.isStampedLate) assert(timestamp > timeMs * 1000 && timestamp <= Date.now() * 1000);
      else assert.equal(timestamp, timeMs * 1000);
      const posts = posted.tap.exchanges.filter((e) => sender.acknowledged(e).length > 0);
      const doors = posts.map(({ path }) => path.split('?')[0]);
      assert.deepEqual([...new Set(doors)], [documentedSender(sender.name).door]);
      sender.arrives(rows[0]!);
    });
  });

  test(`${sender.name} loses nothing acknowledged, and recovers by itself`, options, async () => {
    await PostedService.use(sender, (posted) => logThroughOutages(sender, posted));
  });
}
