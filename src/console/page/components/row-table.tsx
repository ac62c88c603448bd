import { useMemo, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { ColumnGroup, useColumnWidths, WidthHandle } from './column-widths.tsx';
import { Dialog } from './dialog.tsx';
import { LogText } from './log-text.tsx';
import { type JsonValue, RecordTree } from './record-tree.tsx';

export type Row = Readonly<Record<string, JsonValue>>;

const ROWS_AT_ONCE = 200;
const CELL_LENGTH_MAX = 200;

type Order = { readonly column: string; readonly isDescending: boolean };

/**
 * The rows of an answer. A click on a column sorts what is shown, its right edge changes its width; a click on a long value
 * or a record opens it.
 */
export function RowTable({
  rows,
  label,
}: {
  readonly rows: readonly Row[];
  readonly label: string;
}) {
  const [order, setOrder] = useState<Order>();
  const [shownCount, setShownCount] = useState(ROWS_AT_ONCE);
  const [opened, setOpened] = useState<{ readonly column: string; readonly value: JsonValue }>();
  const columns = useMemo(() => listColumns(rows), [rows]);
  const columnWidths = useColumnWidths();
  const { widths, tableWidth } = columnWidths;
  const sorted = useMemo(() => sortRows(rows, order), [rows, order]);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys. */}
      <section class="table-frame" aria-label={label} tabIndex={0}>
        <table
          class={widths === undefined ? 'table' : 'table sized'}
          style={tableWidth && { width: tableWidth }}
        >
          <ColumnGroup widths={widths} />
          <thead>
            <tr ref={columnWidths.head}>
              {columns.map(({ name, isNumber }, index) => (
                <th
                  key={name}
                  scope="col"
                  class={isNumber ? 'number' : ''}
                  aria-sort={order?.column === name ? sortText(order) : 'none'}
                >
                  <button type="button" onClick={() => setOrder(nextOrder(order, name))}>
                    {name}
                    {order?.column === name && (order.isDescending ? ' ↓' : ' ↑')}
                  </button>
                  <WidthHandle name={name} column={index} of={columnWidths} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, shownCount).map((row, index) => (
              <tr key={index}>
                {columns.map(({ name, isNumber }) => (
                  <td key={name} class={isNumber ? 'number' : ''}>
                    <Cell
                      value={row[name]}
                      onOpen={() => setOpened({ column: name, value: row[name] })}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > shownCount && (
        <Button kind="quiet" onClick={() => setShownCount(shownCount + 5 * ROWS_AT_ONCE)}>
          Show more of {rows.length} rows
        </Button>
      )}
      {opened && (
        <Dialog title={opened.column} kind="wide" onClose={() => setOpened(undefined)}>
          {isBranch(opened.value) ? (
            <RecordTree value={opened.value} />
          ) : (
            <p class="record-value mono">
              <LogText text={String(opened.value)} />
            </p>
          )}
        </Dialog>
      )}
    </>
  );
}

function Cell({ value, onOpen }: { readonly value: JsonValue; readonly onOpen: () => void }) {
  if (value === null || value === undefined) return <span class="muted">NULL</span>;
  const text = isBranch(value) ? JSON.stringify(value) : String(value);
  if (!isBranch(value) && text.length <= CELL_LENGTH_MAX) return <LogText text={text} />;
  return (
    <button type="button" class="cell-long" onClick={onOpen}>
      <LogText text={text.slice(0, CELL_LENGTH_MAX)} />
    </button>
  );
}

type Column = { readonly name: string; readonly isNumber: boolean };

function listColumns(rows: readonly Row[]): readonly Column[] {
  const [first = {}] = rows;
  return Object.keys(first).map((name) => ({
    name,
    isNumber: rows.slice(0, 50).every((row) => row[name] === null || typeof row[name] === 'number'),
  }));
}

function sortRows(rows: readonly Row[], order: Order | undefined): readonly Row[] {
  if (order === undefined) return rows;
  const { column, isDescending } = order;
  const sign = isDescending ? -1 : 1;
  return [...rows].sort((left, right) => sign * compareValues(left[column], right[column]));
}

/** NULL first, as GoogleSQL orders it. */
function compareValues(left: JsonValue, right: JsonValue): number {
  if (left === null || right === null) return Number(left !== null) - Number(right !== null);
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  const [one, other] = [String(left), String(right)];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Upwards, downwards, and as they came. */
function nextOrder(order: Order | undefined, column: string): Order | undefined {
  if (order?.column !== column) return { column, isDescending: false };
  return order.isDescending ? undefined : { column, isDescending: true };
}

function sortText({ isDescending }: Order): 'ascending' | 'descending' {
  return isDescending ? 'descending' : 'ascending';
}

function isBranch(value: JsonValue): value is object {
  return typeof value === 'object' && value !== null;
}
