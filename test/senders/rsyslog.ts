import assert from 'node:assert/strict';
import { join } from 'node:path';
import { acknowledgedByItems } from './bulk-items.ts';
import type { Sender, Target } from './sender.ts';
import { folderOfModule, missingDaemons, SOCKET, startSyslogProgram } from './syslog-program.ts';

/** What could not be posted stays in its queue, and is posted again for ever. */
function configuration({ port, token, source, project, folder }: Target): string {
  return `global(workDirectory="${folder}")
module(load="imptcp")
module(load="omelasticsearch")
template(name="document" type="list" option.jsonf="on") {
  property(outname="@timestamp" name="timereported" dateFormat="rfc3339" format="jsonf")
  property(outname="message" name="msg" format="jsonf")
  property(outname="host" name="hostname" format="jsonf")
  property(outname="program" name="programname" format="jsonf")
  property(outname="severity" name="syslogseverity-text" format="jsonf")
  constant(outname="project" value="${project}" format="jsonf")
}
input(type="imptcp" path="${folder}/${SOCKET}" ruleset="weir")
ruleset(name="weir") {
  action(
    type="omelasticsearch"
    server="http://127.0.0.1" serverport="${port}" uid="weir" pwd="${token}"
    searchIndex="${source}" searchType="" bulkmode="on" template="document"
    action.resumeRetryCount="-1" action.resumeInterval="1"
    queue.type="LinkedList" queue.dequeueBatchSize="50"
  )
}
`;
}

export const rsyslog: Sender = {
  name: 'rsyslog',
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
