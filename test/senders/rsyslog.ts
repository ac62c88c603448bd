import assert from 'node:assert/strict';
import { join } from 'node:path';
import { acknowledgedByItems } from './bulk-items.ts';
import { documentedConfiguration } from './documented-sender.ts';
import type { Sender, Target } from './sender.ts';
import {
  daemonVersion,
  folderOfModule,
  missingDaemons,
  SOCKET,
  startSyslogProgram,
} from './syslog-program.ts';

/** As docs/ingest.md has it; what the daemon says of itself has no part in it. */
function configuration(target: Target): string {
  const { folder } = target;
  const toWeir = documentedConfiguration('omelasticsearch', target);
  return `global(workDirectory="${folder}")
module(load="imptcp")
input(type="imptcp" path="${folder}/${SOCKET}" ruleset="weir")
${toWeir.replace('action(', 'ruleset(name="weir") {\naction(')}}
`;
}

export const rsyslog: Sender = {
  name: 'rsyslog',
  version: () => daemonVersion('rsyslogd', '-v'),
  missing: missingDaemons,
  keeps: 'everything',
  start: (target) => {
    const { folder } = target;
    return startSyslogProgram('rsyslogd', {
      folder,
      configuration: configuration(target),
      arguments: [
        ...['-n', '-M', folderOfModule('omelasticsearch.so')],
        ...['-f', join(folder, 'daemon.conf'), '-i', join(folder, 'daemon.pid')],
      ],
    });
  },
  acknowledged: acknowledgedByItems,
  arrives: ({ event_message, project, metadata }) => {
    assert.equal(event_message, 'event-000001 was made');
    assert.equal(project, 'alpha');
    assert.deepEqual(metadata, [{ host: 'host1', program: 'shop', severity: 'info' }]);
  },
};
