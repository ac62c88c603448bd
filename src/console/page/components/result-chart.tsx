import type { Column } from '../api/query.ts';
import { formatCount } from './quantity.ts';
import type { Row } from './row-table.tsx';
import { type ChartSeries, TimeChart } from './time-chart.tsx';

const SERIES_MAX = 10;
const BARS_MAX = 50;

/** What can be drawn of an answer, by the types of its columns. */
export type Chart =
  | {
      readonly kind: 'time';
      readonly times: readonly number[];
      readonly series: readonly ChartSeries[];
    }
  | {
      readonly kind: 'bars';
      readonly label: string;
      readonly bars: readonly (readonly [name: string, value: number])[];
    };

const TIME_TYPES: readonly string[] = ['TIMESTAMP', 'DATETIME', 'DATE'];
const NUMBER_TYPES: readonly string[] = ['INT64', 'FLOAT64', 'NUMERIC', 'BIGNUMERIC'];

/** A time and numbers are lines; a text and a number are bars; all else is a table only. */
export function chooseChart(columns: readonly Column[], rows: readonly Row[]): Chart | undefined {
  const numbers = columns.filter(({ type }) => NUMBER_TYPES.includes(type)).slice(0, SERIES_MAX);
  if (numbers.length === 0 || rows.length < 2) return undefined;
  const time = columns.find(({ type }) => TIME_TYPES.includes(type));
  if (time !== undefined) return timeChart(time, numbers, rows);
  const category = columns.find(({ type }) => !NUMBER_TYPES.includes(type));
  if (category === undefined) return undefined;
  const [number] = numbers;
  const bars = rows.slice(0, BARS_MAX).flatMap((row) => {
    const value = toNumber(row[number!.name]);
    return value === null ? [] : [[String(row[category.name]), value] as const];
  });
  return { kind: 'bars', label: `${number!.name} by ${category.name}`, bars };
}

function timeChart(time: Column, numbers: readonly Column[], rows: readonly Row[]): Chart {
  const timed = rows
    .map((row) => ({ seconds: toSeconds(row[time.name], time.type), row }))
    .filter((one): one is { seconds: number; row: Row } => one.seconds !== null)
    .sort((left, right) => left.seconds - right.seconds);
  return {
    kind: 'time',
    times: timed.map(({ seconds }) => seconds),
    series: numbers.map(({ name }, index) => ({
      ...{ label: name, colour: index },
      values: timed.map(({ row }) => toNumber(row[name])),
    })),
  };
}

function toSeconds(value: unknown, type: string): number | null {
  if (type === 'TIMESTAMP') return typeof value === 'number' ? value / 1e6 : null;
  const ms =
    typeof value === 'string' ? Date.parse(value.length > 10 ? `${value}Z` : value) : Number.NaN;
  return Number.isNaN(ms) ? null : ms / 1e3;
}

/** Numbers beyond 2^53 come as text, and are drawn as near as can be. */
function toNumber(value: unknown): number | null {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

export function ResultChart({ chart }: { readonly chart: Chart }) {
  if (chart.kind === 'time') {
    return (
      <TimeChart title="By time" times={chart.times} series={chart.series} format={formatCount} />
    );
  }
  const most = Math.max(...chart.bars.map(([, value]) => value), 0);
  return (
    <figure class="chart">
      <figcaption>
        <h2>{chart.label}</h2>
      </figcaption>
      <ul class="bars">
        {chart.bars.map(([name, value], index) => (
          <li key={index}>
            <span class="bar-name">{name}</span>
            <meter min={0} max={most || 1} value={value} aria-label={name} />
            <span class="number">{formatCount(value)}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}
