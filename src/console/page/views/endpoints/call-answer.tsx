import { send } from '../../api/client.ts';
import type { EndpointInfo } from '../../api/endpoints.ts';
import type { Column } from '../../api/query.ts';
import { formatMs } from '../../components/quantity.ts';
import { chooseChart, ResultChart } from '../../components/result-chart.tsx';
import { type Row, RowTable } from '../../components/row-table.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { useResource } from '../../state/resource.ts';
import { type CallValues, listParameters } from './call-form.tsx';
import { callPath } from './call-text.ts';

type Answer = {
  readonly rows: readonly Row[];
  readonly columns: readonly Column[];
  /** How the answer was made: of the headers, in words. */
  readonly notes: readonly string[];
  /** Milliseconds of each phase, by `Server-Timing`. */
  readonly phases: readonly (readonly [name: string, ms: number])[];
};

/** The rows of a call or a chart of them, once there are values to call with. */
export function CallAnswer(props: {
  readonly endpoint: EndpointInfo;
  readonly values: CallValues | undefined;
  /** Changes with each call that is asked for. */
  readonly round: number;
  readonly isChart: boolean;
  /** Hears that a call has ended. */
  readonly onEnd: () => void;
}) {
  const { values } = props;
  if (values === undefined) {
    return (
      <Empty title="Not called yet">
        <p class="muted">Fill in the parameters, then press Call.</p>
      </Empty>
    );
  }
  return <Called {...props} values={values} />;
}

function Called(props: {
  readonly endpoint: EndpointInfo;
  readonly values: CallValues;
  readonly round: number;
  readonly isChart: boolean;
  readonly onEnd: () => void;
}) {
  const { endpoint, values, round, isChart, onEnd } = props;
  // Where the query has a parameter of this name it is not the types of the columns that are asked for.
  const hasOwnColumns = listParameters(endpoint).some(({ name }) => name === 'columns');
  const asked = Object.entries(values);
  const path = callPath(endpoint.name, hasOwnColumns ? asked : [...asked, ['columns', 'true']]);
  const [resource, reload] = useResource(
    (signal) => call(path, signal).finally(onEnd),
    [path, round],
  );
  return (
    <Loaded resource={resource} what="Calling" onRetry={reload}>
      {({ rows, columns, notes, phases }) => (
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
          {rows.length === 0 && <Empty title="No rows match" />}
          {rows.length > 0 && isChart && <ChartOf columns={columns} rows={rows} />}
          {rows.length > 0 && !isChart && (
            <RowTable rows={rows} label={`Rows of ${endpoint.name}`} />
          )}
        </>
      )}
    </Loaded>
  );
}

function ChartOf({ columns, rows }: Pick<Answer, 'columns' | 'rows'>) {
  const chart = chooseChart(columns, rows);
  if (chart !== undefined) return <ResultChart chart={chart} />;
  return (
    <Empty title="These rows make no chart">
      <p class="muted">A chart needs two rows, a column of numbers, and one of times or names.</p>
    </Empty>
  );
}

async function call(path: string, signal: AbortSignal): Promise<Answer> {
  const response = await send(path, { signal });
  const { result, columns = [] } = (await response.json()) as {
    readonly result: readonly Row[];
    /** Absent where the query has a parameter of this name. */
    readonly columns?: readonly Column[];
  };
  const { headers } = response;
  return { rows: result, columns, notes: notesIn(headers), phases: phasesIn(headers) };
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
