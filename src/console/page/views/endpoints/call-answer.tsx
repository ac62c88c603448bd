import { send } from '../../api/client.ts';
import type { EndpointInfo } from '../../api/endpoints.ts';
import { type Row, RowTable } from '../../components/row-table.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { useResource } from '../../state/resource.ts';
import type { CallValues } from './call-form.tsx';
import { callPath } from './call-text.ts';

type Answer = {
  readonly rows: readonly Row[];
  /** How the answer was made: of the headers, in words. */
  readonly notes: readonly string[];
  /** Milliseconds of each phase, by `Server-Timing`. */
  readonly phases: readonly (readonly [name: string, ms: number])[];
};

/** The rows of a call, once there are values to call with. */
export function CallAnswer(props: {
  readonly endpoint: EndpointInfo;
  readonly values: CallValues | undefined;
  /** Changes with each call that is asked for. */
  readonly round: number;
}) {
  const { endpoint, values, round } = props;
  if (values === undefined) {
    return (
      <Empty title="Not called yet">
        <p class="muted">Fill in the parameters, then press Call.</p>
      </Empty>
    );
  }
  return <Called endpoint={endpoint} values={values} round={round} />;
}

function Called(props: {
  readonly endpoint: EndpointInfo;
  readonly values: CallValues;
  readonly round: number;
}) {
  const { endpoint, values, round } = props;
  const path = callPath(endpoint.name, Object.entries(values));
  const [resource, reload] = useResource((signal) => call(path, signal), [path, round]);
  return (
    <Loaded resource={resource} what="Calling" onRetry={reload}>
      {({ rows, notes, phases }) => (
        <>
          <p class="answer-notes">
            <strong>{rows.length === 1 ? '1 row' : `${rows.length} rows`}</strong>
            {notes.map((note) => (
              <span key={note} class="badge">
                {note}
              </span>
            ))}
            {phases.map(([name, ms]) => (
              <span key={name} class="muted">
                {name} {formatMs(ms)}
              </span>
            ))}
          </p>
          {rows.length === 0 ? (
            <Empty title="No rows match" />
          ) : (
            <RowTable rows={rows} label={`Rows of ${endpoint.name}`} />
          )}
        </>
      )}
    </Loaded>
  );
}

async function call(path: string, signal: AbortSignal): Promise<Answer> {
  const response = await send(path, { signal });
  const { result } = (await response.json()) as { readonly result: readonly Row[] };
  return { rows: result, notes: notesIn(response.headers), phases: phasesIn(response.headers) };
}

function notesIn(headers: Headers): readonly string[] {
  const notes: string[] = [];
  const status = headers.get('cache-status') ?? '';
  const age = headers.get('age');
  if (/;\s*hit/.test(status)) notes.push(`kept, ${age ?? 0} s old`);
  else if (status.includes('collapsed')) notes.push('shared the run of another call');
  else if (status.includes('stored')) notes.push('computed now, and kept');
  else notes.push('computed now');
  const cut = headers.get('weir-truncated');
  if (cut !== null) notes.push(`cut at ${cut} rows`);
  const warnings = headers.get('weir-warnings');
  if (warnings !== null) notes.push(warnings);
  return notes;
}

function phasesIn(headers: Headers): Answer['phases'] {
  const text = headers.get('server-timing') ?? '';
  return Array.from(text.matchAll(/(\w+);dur=([\d.]+)/g), ([, name, ms]) => [name!, Number(ms)]);
}

function formatMs(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}
