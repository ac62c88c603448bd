import assert from 'node:assert/strict';
import { join } from 'node:path';
import { documentedConfiguration } from './documented-sender.ts';
import { acknowledgedByStatus, type Sender, type Target } from './sender.ts';
import {
  daemonVersion,
  folderOfModule,
  missingDaemons,
  SOCKET,
  startSyslogProgram,
} from './syslog-program.ts';

/** As docs/ingest.md has it, between the options that it names and a socket of the test's own. */
function configuration(target: Target): string {
  const { folder } = target;
  const destination = documentedConfiguration('destination weir', target);
  return `@version: 3.38
options { time-reopen(1); frac-digits(6); keep-timestamp(yes); keep-hostname(yes); };
source applications { unix-stream("${folder}/${SOCKET}" flags(syslog-protocol)); };
${destination.replace('disk-buffer(', `disk-buffer(dir("${folder}") `)}
log { source(applications); destination(weir); flags(flow-control); };
`;
}

export const syslogNg: Sender = {
  name: 'syslog-ng',
  version: () => daemonVersion('syslog-ng', '--version'),
  missing: missingDaemons,
  keeps: 'everything',
  start: (target) => {
    const { folder } = target;
    return startSyslogProgram('syslog-ng', {
      folder,
      configuration: configuration(target),
      arguments: [
        ...['--foreground', '--no-caps', '--module-path', folderOfModule('libhttp.so')],
        ...['--cfgfile', join(folder, 'daemon.conf'), '--pidfile', join(folder, 'daemon.pid')],
        ...['--persist-file', join(folder, 'daemon.persist')],
        ...['--control', join(folder, 'daemon.ctl')],
      ],
    });
  },
  acknowledged: acknowledgedByStatus,
  arrives: ({ event_message, metadata }) => {
    assert.equal(event_message, 'event-000001 was made');
    assert.deepEqual(metadata, [
      {
        facility: 'local0',
        severity: 'info',
        priority: 134,
        hostname: 'host1',
        app_name: 'shop',
        proc_id: '77',
        msg_id: 'made',
        structured_data: [{ 'shop@32473': [{ order: '7' }], meta: [{ sequenceId: '1' }] }],
      },
    ]);
  },
};
