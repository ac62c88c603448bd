import { useEffect, useRef, useState } from 'preact/hooks';
import type { QueryParameter } from '../../api/query.ts';
import { Button } from '../../components/button.tsx';
import { useSchemaNames } from '../../editor/schema-names.ts';
import { type EditorHandle, SqlEditor, type TextProblem } from '../../editor/sql-editor.tsx';
import { useActions } from '../../state/actions.ts';
import { changeParameters, route } from '../../state/route.ts';
import { may } from '../../state/session.ts';
import { ParameterForm } from './parameter-form.tsx';
import { rememberQuery } from './query-history.ts';
import { QueryHistory } from './query-history-list.tsx';
import { QueryResult, type RunQuery } from './query-result.tsx';
import { SaveDialog } from './save-dialog.tsx';
import { findParameters, formatParameter, parameterKey, readParameters } from './sql-parameters.ts';

/** An editor for SQL, its rows, a chart of them, and the plan. */
export function QueryView() {
  const { sql = '' } = route.value.parameters;
  const parameters = readParameters(sql, route.value.parameters);
  const [run, setRun] = useState<RunQuery>();
  const [problem, setProblem] = useState<TextProblem>();
  const [opened, setOpened] = useState<'history' | 'save'>();
  const [round, renew] = useRound();
  const handle = useRef<EditorHandle | undefined>(undefined);
  const names = useSchemaNames(findParameters(sql).join(' '));
  const start = (): void => {
    const selected = handle.current?.selection().trim() ?? '';
    const text = selected === '' ? (route.peek().parameters['sql'] ?? '') : selected;
    if (text.trim() === '') return;
    rememberQuery(text);
    setProblem(undefined);
    setRun({
      sql: text,
      parameters: readParameters(text, route.peek().parameters),
      at: Date.now(),
    });
  };
  useActions(
    () => [
      { title: 'Run the query', group: 'Query', keys: 'Ctrl+enter', run: start },
      {
        title: 'Write in the editor',
        group: 'Query',
        keys: '/',
        run: () => handle.current?.focus(),
      },
      { title: 'Queries that were run', group: 'Query', run: () => setOpened('history') },
    ],
    [],
  );
  return (
    <div class="query">
      <div class="query-text">
        <SqlEditor
          key={round}
          label="SQL"
          text={sql}
          names={names}
          problem={problem}
          handle={handle}
          onRun={start}
          onChange={(text) => {
            setProblem(undefined);
            changeParameters({ sql: text }, 'replace');
          }}
        />
        <ParameterForm parameters={parameters} onChange={changeParameter} />
        <QueryTools isEmpty={sql.trim() === ''} onRun={start} onOpen={setOpened} />
      </div>
      <QueryResult run={run} onProblem={setProblem} />
      {opened === 'history' && (
        <QueryHistory
          onChoose={(text) => {
            setOpened(undefined);
            changeParameters({ sql: text });
            renew();
          }}
          onClose={() => setOpened(undefined)}
        />
      )}
      {opened === 'save' && (
        <SaveDialog sql={sql} parameters={parameters} onClose={() => setOpened(undefined)} />
      )}
    </div>
  );
}

function QueryTools(props: {
  readonly isEmpty: boolean;
  readonly onRun: () => void;
  readonly onOpen: (what: 'history' | 'save') => void;
}) {
  const { isEmpty, onRun, onOpen } = props;
  return (
    <div class="query-tools">
      <Button kind="primary" icon="play" onClick={onRun}>
        Run
      </Button>
      <Button onClick={() => onOpen('history')}>History</Button>
      {may('manage') && (
        <Button disabled={isEmpty} onClick={() => onOpen('save')}>
          Save as endpoint
        </Button>
      )}
      <span class="muted">Ctrl+Enter runs the selection, or everything</span>
    </div>
  );
}

/** Counts how often the text was replaced by another one: the editor begins anew with it. */
function useRound(): readonly [round: number, renew: () => void] {
  const [round, setRound] = useState(0);
  const renew = (): void => setRound((before) => before + 1);
  useEffect(() => {
    // A link, Back or Forward: the text is no longer what was typed.
    addEventListener('popstate', renew);
    return () => removeEventListener('popstate', renew);
  }, []);
  return [round, renew];
}

function changeParameter(parameter: QueryParameter): void {
  changeParameters({ [parameterKey(parameter.name)]: formatParameter(parameter) }, 'replace');
}
