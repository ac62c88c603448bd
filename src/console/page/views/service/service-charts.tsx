import type { HistoryPoint } from '../../api/service.ts';
import { formatBytes, formatCount, formatMs } from '../../components/quantity.ts';
import { TimeChart } from '../../components/time-chart.tsx';

/** The last hour, in the steps of the service. */
export function ServiceCharts({ history }: { readonly history: readonly HistoryPoint[] }) {
  if (history.length < 2) {
    return (
      <p class="muted">The charts begin some twenty seconds after the start of the service.</p>
    );
  }
  const times = history.map(({ at }) => Date.parse(at) / 1e3);
  const values = (read: (point: HistoryPoint) => number | null) => history.map(read);
  const seconds = Math.round(history.at(-1)!.seconds);
  return (
    <div class="charts">
      <TimeChart
        title={`Events stored in ${seconds} s`}
        times={times}
        format={formatCount}
        series={[{ label: 'events', colour: 0, values: values(({ events }) => events) }]}
      />
      <TimeChart
        title={`Posts and calls in ${seconds} s`}
        times={times}
        format={formatCount}
        series={[
          { label: 'posts', colour: 0, values: values(({ posts }) => posts) },
          { label: 'calls', colour: 3, values: values(({ calls }) => calls) },
          { label: 'refused posts', colour: 1, values: values((point) => point.refused_posts) },
          { label: 'failed calls', colour: 2, values: values((point) => point.failed_calls) },
        ]}
      />
      <TimeChart
        title="Time of calls"
        times={times}
        format={formatMs}
        series={[
          { label: 'p50', colour: 0, values: values(({ p50_ms }) => p50_ms) },
          { label: 'p95', colour: 1, values: values(({ p95_ms }) => p95_ms) },
        ]}
      />
      <TimeChart
        title="Memory"
        times={times}
        format={formatBytes}
        series={[
          { label: 'process', colour: 0, values: values((point) => point.resident_bytes) },
          {
            label: 'events not in files',
            colour: 5,
            values: values((point) => point.backlog_bytes),
          },
        ]}
      />
    </div>
  );
}
