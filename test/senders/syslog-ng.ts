import assert from 'node:assert/strict';
import { join } from 'node:path';
import { acknowledgedByStatus, type Sender, type Target } from './sender.ts';
import { folderOfModule, missingDaemons, SOCKET, startSyslogProgram } from './syslog-program.ts';

/** What could not be posted is kept in a file, and posted again once a second. */
function configuration({ port, token, source, folder }: Target): string {
  return `@version: 3.38
options { time-reopen(1); frac-digits(6); keep-timestamp(yes); keep-hostname(yes); };
source applications { unix-stream("${folder}/${SOCKET}" flags(syslog-protocol)); };
destination weir {
  http(
    url("http://127.0.0.1:${port}/api/logs/syslog?source_name=${source}")
    method("POST")
    headers("X-API-KEY: ${token}", "Content-Type: text/plain")
    body("<$PRI>1 $ISODATE $HOST \${PROGRAM:--} \${PID:--} \${MSGID:--} \${SDATA:--} $MSG")
    delimiter("\\n")
    batch-lines(50)
    batch-timeout(200)
    disk-buffer(reliable(yes) mem-buf-size(1048576) disk-buf-size(1048576) dir("${folder}"))
  );
};
log { source(applications); destination(weir); flags(flow-control); };
`;
}

export const syslogNg: Sender = {
  name: 'syslog-ng',
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
