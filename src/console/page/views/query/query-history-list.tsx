import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/states.tsx';
import { forgetQueries, queryHistory } from './query-history.ts';

/** The queries that were run in this browser. */
export function QueryHistory(props: {
  readonly onChoose: (sql: string) => void;
  readonly onClose: () => void;
}) {
  const queries = queryHistory.value;
  return (
    <Dialog title="Queries that were run" kind="wide" onClose={props.onClose}>
      {queries.length === 0 && <Empty title="None yet" />}
      <ul class="history">
        {queries.map((sql) => (
          <li key={sql}>
            <button type="button" class="history-entry" onClick={() => props.onChoose(sql)}>
              <code>{sql}</code>
            </button>
          </li>
        ))}
      </ul>
      {queries.length > 0 && (
        <Button kind="danger" onClick={forgetQueries}>
          Forget them
        </Button>
      )}
    </Dialog>
  );
}
