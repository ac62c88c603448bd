import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../api/client.ts';
import { ANSWER_ROWS_MAX, orderAnswer } from '../../api/download.ts';
import { explainQuery, type QueryAnswer, type QueryParameter, runQuery } from '../../api/query.ts';
import { Button } from '../../components/button.tsx';
import { DownloadDialog } from '../../components/download-dialog.tsx';
import { formatInteger } from '../../components/quantity.ts';
import { chooseChart, ResultChart } from '../../components/result-chart.tsx';
import { RowTable } from '../../components/row-table.tsx';
import { Empty, Failure, Loaded, Loading } from '../../components/states.tsx';
import { Tabs } from '../../components/tabs.tsx';
import type { TextProblem } from '../../editor/sql-editor.tsx';
import { useActions } from '../../state/actions.ts';
import { useResource } from '../../state/resource.ts';
import { PlanList } from './plan-list.tsx';

/** A query to run. `at` differs between two runs of the same text. */
export type RunQuery = {
  readonly sql: string;
  readonly parameters: readonly QueryParameter[];
  readonly at: number;
};

type Outcome =
  | { readonly state: 'running'; readonly cancel: () => void }
  | { readonly state: 'failed'; readonly error: ApiError }
  | { readonly state: 'ready'; readonly answer: QueryAnswer };

/** What became of the last run. */
export function QueryResult(props: {
  readonly run: RunQuery | undefined;
  readonly onProblem: (problem: TextProblem | undefined) => void;
}) {
  const { run, onProblem } = props;
  const [outcome, setOutcome] = useState<Outcome>();
  useEffect(() => {
    if (run === undefined) return;
    const stopped = new AbortController();
    let isOver = false;
    setOutcome({ state: 'running', cancel: () => stopped.abort() });
    runQuery(run.sql, run.parameters, stopped.signal).then(
      (answer) => {
        if (!isOver) setOutcome({ state: 'ready', answer });
      },
      (failure: unknown) => {
        if (isOver) return;
        const error = ApiError.from(failure);
        setOutcome({ state: 'failed', error });
        const { line, column } = error.details;
        if (line !== undefined && column !== undefined) {
          onProblem({ line, column, message: error.message });
        }
      },
    );
    return () => {
      isOver = true;
      stopped.abort();
    };
  }, [run]);
  if (run === undefined || outcome === undefined) {
    return (
      <Empty title="No query was run yet">
        <p class="muted">
          Write SQL above and press Ctrl+Enter. Put names of sources in backquotes.
        </p>
      </Empty>
    );
  }
  if (outcome.state === 'running') {
    return (
      <div class="query-running">
        <Loading what="Running" />
        <Button onClick={outcome.cancel}>Cancel</Button>
      </div>
    );
  }
  if (outcome.state === 'failed') {
    return outcome.error.code === 'cancelled' ? (
      <Empty title="The query was cancelled" />
    ) : (
      <Failure error={outcome.error} />
    );
  }
  return <Answer key={run.at} run={run} answer={outcome.answer} />;
}

type TabName = 'rows' | 'chart' | 'plan';

function Answer({ run, answer }: { readonly run: RunQuery; readonly answer: QueryAnswer }) {
  const { rows, columns, truncatedTo, warnings, timing } = answer;
  const [chosen, setChosen] = useState<TabName>('rows');
  const [isDownloading, setDownloading] = useState(false);
  useActions(() => [{ title: 'Download', group: 'Query', run: () => setDownloading(true) }], []);
  const chart = chooseChart(columns, rows);
  const tabs = [
    { name: 'rows', title: rows.length === 1 ? '1 row' : `${rows.length} rows` },
    ...(chart === undefined ? [] : [{ name: 'chart', title: 'Chart' } as const]),
    { name: 'plan', title: 'Plan' },
  ] as const;
  const [, ms] = /\brun;dur=([\d.]+)/.exec(timing) ?? [];
  return (
    <section class="query-answer" aria-label="Answer">
      <p class="answer-notes">
        {ms !== undefined && <span class="muted">{ms} ms</span>}
        {truncatedTo !== undefined && (
          <span class="badge warn">only the first {truncatedTo} rows</span>
        )}
        {warnings !== undefined && <span class="badge warn">{warnings}</span>}
        <Button icon="download" onClick={() => setDownloading(true)}>
          Download
        </Button>
      </p>
      <Tabs label="Answer" tabs={tabs} chosen={chosen} onChoose={setChosen}>
        {chosen === 'rows' && rows.length > 0 && <RowTable rows={rows} label="Rows" />}
        {chosen === 'rows' && rows.length === 0 && <Empty title="No rows match" />}
        {chosen === 'chart' && chart !== undefined && <ResultChart chart={chart} />}
        {chosen === 'plan' && <Plan run={run} />}
      </Tabs>
      {isDownloading && (
        <DownloadDialog
          order={orderAnswer(run.sql, run.parameters)}
          onClose={() => setDownloading(false)}
        >
          All rows of the answer, at most {formatInteger(ANSWER_ROWS_MAX)}. The query runs once more
          for them.
        </DownloadDialog>
      )}
    </section>
  );
}

/** Runs the query again, and measures its operators. */
function Plan({ run }: { readonly run: RunQuery }) {
  const [resource, reload] = useResource(
    (signal) => explainQuery(run.sql, run.parameters, signal),
    [run],
  );
  return (
    <Loaded resource={resource} what="Running the query again to measure it" onRetry={reload}>
      {(explanation) => <PlanList explanation={explanation} />}
    </Loaded>
  );
}
