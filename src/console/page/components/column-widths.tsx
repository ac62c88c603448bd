import type { RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';

/** A column stays wide enough for its handle. */
const WIDTH_MIN = 48;
const KEY_STEP = 16;

type Widths = readonly number[];

/** The widths of a table's columns: chosen by its text until somebody changes one. */
export type ColumnWidths = {
  /** To be given to the row of headings. */
  readonly head: RefObject<HTMLTableRowElement | null>;
  /** Pixels of each column; `undefined` until somebody changed one. */
  readonly widths: Widths | undefined;
  /** That of the table: all of them together. */
  readonly tableWidth: string | undefined;
  /** Makes a column wider, or narrower if `byPixels` is negative. */
  readonly widen: (column: number, byPixels: number) => void;
  readonly reset: () => void;
};

export function useColumnWidths(): ColumnWidths {
  const head = useRef<HTMLTableRowElement>(null);
  const [widths, setWidths] = useState<Widths>();
  const measure = (): Widths =>
    Array.from(head.current?.cells ?? [], (cell) => cell.getBoundingClientRect().width);
  return {
    head,
    widths,
    tableWidth: widths && `${widths.reduce((sum, width) => sum + width, 0)}px`,
    widen: (column, byPixels) =>
      setWidths((before) =>
        (before ?? measure()).map((width, index) =>
          index === column ? Math.max(WIDTH_MIN, width + byPixels) : width,
        ),
      ),
    reset: () => setWidths(undefined),
  };
}

/** The columns of a table, with the widths that somebody chose. */
export function ColumnGroup({ widths }: { readonly widths: Widths | undefined }) {
  if (widths === undefined) return null;
  return (
    <colgroup>
      {widths.map((width, index) => (
        <col key={index} style={{ width: `${width}px` }} />
      ))}
    </colgroup>
  );
}

/** What is drawn to change the width of a column; arrow keys change it, too, and a double click takes all changes back. */
export function WidthHandle(props: {
  readonly name: string;
  readonly column: number;
  readonly of: ColumnWidths;
}) {
  const { name, column, of } = props;
  const { widths, widen, reset } = of;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule between parts of a text cannot be moved.
    <span
      class="width-handle"
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of ${name}`}
      aria-valuenow={Math.round(widths?.[column] ?? 0)}
      aria-valuetext={widths === undefined ? 'as wide as its text' : undefined}
      tabIndex={0}
      onDblClick={reset}
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.focus();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) widen(column, event.movementX);
      }}
      onKeyDown={({ key }) => {
        if (key === 'ArrowLeft') widen(column, -KEY_STEP);
        if (key === 'ArrowRight') widen(column, KEY_STEP);
      }}
    />
  );
}
