import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { isDark } from '../state/theme.ts';

export type ChartSeries = {
  readonly label: string;
  /** The number of one of the ten colours of series. */
  readonly colour: number;
  /** One for each time; null where there is none. */
  readonly values: readonly (number | null)[];
};

const HEIGHT = 140;

/** Lines over time. The times are in UTC, as everywhere on the page. */
export function TimeChart(props: {
  readonly title: string;
  /** Seconds since the epoch, ascending. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
}) {
  const { title, times, series, format } = props;
  const frame = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const dark = isDark.value;
  const data = [times, ...series.map(({ values }) => values)] as uPlot.AlignedData;
  useEffect(() => {
    const element = frame.current!;
    const size = () => ({ width: Math.max(200, element.clientWidth), height: HEIGHT });
    const drawn = new uPlot({ ...size(), ...chartOptions(series, format) }, data, element);
    chart.current = drawn;
    // In the next frame: a change of size within the callback would call it again at once.
    const watcher = new ResizeObserver(() => requestAnimationFrame(() => drawn.setSize(size())));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      drawn.destroy();
    };
  }, [dark]);
  useEffect(() => chart.current?.setData(data), [times, series]);
  const last = series.map(({ label, values }) => {
    const value = values.at(-1) ?? null;
    return `${label} ${value === null ? '–' : format(value)}`;
  });
  return (
    <figure class="chart">
      <figcaption>
        <h2>{title}</h2>
        <ul class="chart-legend">
          {series.map(({ label, colour }, index) => (
            <li key={label} class={`series-${colour}`}>
              {last[index]}
            </li>
          ))}
        </ul>
      </figcaption>
      <div ref={frame} role="img" aria-label={`${title}: ${last.join(', ')}`} />
    </figure>
  );
}

function chartOptions(
  series: readonly ChartSeries[],
  format: (value: number) => string,
): Pick<uPlot.Options, 'series' | 'axes' | 'scales' | 'legend' | 'cursor' | 'tzDate'> {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--text-muted'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: `11px ${colour('--font')}`,
  };
  return {
    series: [
      {},
      ...series.map(({ label, colour: number }) => ({
        label,
        stroke: colour(`--series-${number}`),
        width: 1.5,
        points: { show: false },
      })),
    ],
    axes: [
      { ...axis, values: (_chart: uPlot, times: number[]) => formatTimes(times) },
      { ...axis, size: 64, values: (_chart: uPlot, values: number[]) => values.map(format) },
    ],
    scales: { y: { range: (_chart, _min, max) => [0, Math.max(max, 1e-9) * 1.05] } },
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1e3), 'Etc/UTC'),
  };
}

/** The part of each time that differs from the time before: the day, the minute or the second. */
function formatTimes(times: readonly number[]): string[] {
  const step = times.length < 2 ? 0 : times[1]! - times[0]!;
  return times.map((seconds) => {
    const text = new Date(seconds * 1e3).toISOString();
    if (step >= 86_400) return text.slice(0, 10);
    const clock = text.slice(11, step >= 60 ? 16 : 19);
    return step > 0 && seconds % 86_400 === 0 ? text.slice(5, 10) : clock;
  });
}
