import { ask } from '../../api/client.ts';
import { loadPosts, type PostReport } from '../../api/service.ts';
import { Button } from '../../components/button.tsx';
import { LogText } from '../../components/log-text.tsx';
import { formatCount, formatMicros, formatTime } from '../../components/quantity.ts';
import { type JsonValue, RecordTree } from '../../components/record-tree.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { useResource } from '../../state/resource.ts';

/** What became of the posts of each token at each receiver, and why events may not be found. */
export function PostReportList() {
  const [resource, reload] = useResource(loadPosts, []);
  return (
    <Loaded resource={resource} what="Asking the service" onRetry={reload}>
      {({ result, findings, since }) => (
        <div class="service-part">
          <p class="muted">
            Posts since {formatTime(since)} UTC, the last sender first.{' '}
            <Button onClick={reload}>Look again</Button>
          </p>
          {findings.map(({ code, message }) => (
            <Empty key={code} title={message}>
              <p class="muted">Look at the address, the port and TLS of your sender.</p>
            </Empty>
          ))}
          {result.map((report) => (
            <Report key={`${report.token?.id} ${report.receiver}`} report={report} />
          ))}
        </div>
      )}
    </Loaded>
  );
}

function Report({ report }: { readonly report: PostReport }) {
  const { token, receiver, posts, refused_posts, stored_events, last, last_event, findings } =
    report;
  const sender = token === null ? 'No valid token' : `Token ${token.name}`;
  return (
    <article class="card report">
      <h2>
        <LogText text={sender} /> at <span class="mono">{receiver}</span>
      </h2>
      <p class="muted">
        {formatCount(posts)} posts, {formatCount(refused_posts)} refused;{' '}
        {formatCount(stored_events)} events stored
      </p>
      {last !== undefined && (
        <p>
          Last post {formatTime(last.at)} from {last.from ?? 'an unknown address'}:{' '}
          <span class={`badge ${last.status < 400 ? 'accent' : 'bad'}`}>
            {last.status} {last.code}
          </span>
        </p>
      )}
      {findings.length === 0 && <p>No problem found.</p>}
      <ul class="findings">
        {findings.map(({ code, message }) => (
          <li key={code} class="finding">
            <span class="badge warn">{code}</span> <LogText text={message} />
          </li>
        ))}
      </ul>
      {last_event !== undefined && <StoredEvent event={last_event} />}
    </article>
  );
}

/** The last event, as a query finds it. */
function StoredEvent({ event }: { readonly event: NonNullable<PostReport['last_event']> }) {
  const { source, project, id, timestamp } = event;
  const [resource, reload] = useResource(
    async (signal) => {
      const sql = `SELECT id, timestamp, event_message, project, metadata FROM \`${source}\`
WHERE timestamp = TIMESTAMP_MICROS(@timestamp) AND STARTS_WITH(id, @id) LIMIT 1`;
      const json = { sql, parameters: { id, timestamp } };
      const asked = { method: 'POST', json, signal } as const;
      return (await ask<{ readonly result: readonly JsonValue[] }>('api/query', asked)).result[0];
    },
    [source, id, timestamp],
  );
  return (
    <details>
      <summary>
        Last event: source <span class="mono">{source}</span>,{' '}
        {project === undefined ? 'no project' : <LogText text={`project ${project}`} />}, timestamp{' '}
        {formatMicros(timestamp)} UTC
      </summary>
      <Loaded resource={resource} what="Reading the event" onRetry={reload}>
        {(found) =>
          found === undefined ? <p>It is no longer stored.</p> : <RecordTree value={found} />
        }
      </Loaded>
    </details>
  );
}
