import type { EndpointCalls, SourceInfo } from '../../api/service.ts';
import { formatBytes, formatCount, formatMicros, formatMs } from '../../components/quantity.ts';

/** Cells of numbers are aligned to the right. */
type Cell = { readonly text: string; readonly isNumber?: boolean };

/** What each source holds. */
export function SourceTable({ sources }: { readonly sources: readonly SourceInfo[] }) {
  const rows = sources.map((source) => [
    { text: source.name },
    { text: source.project ?? 'not in the settings' },
    { text: formatCount(source.events), isNumber: true },
    { text: formatBytes(source.bytes), isNumber: true },
    { text: formatBytes(source.stored_bytes), isNumber: true },
    { text: String(source.segments), isNumber: true },
    { text: formatCount(source.since_start.events), isNumber: true },
    { text: formatMicros(source.oldest) },
    { text: formatMicros(source.newest) },
  ]);
  const columns = [
    { text: 'source' },
    { text: 'project in' },
    { text: 'events', isNumber: true },
    { text: 'in memory', isNumber: true },
    { text: 'in files', isNumber: true },
    { text: 'segments', isNumber: true },
    { text: 'new since start', isNumber: true },
    { text: 'oldest (UTC)' },
    { text: 'newest (UTC)' },
  ];
  return <TableOf title="Sources" columns={columns} rows={rows} />;
}

/** How often each saved query was called within the last hour, and how fast. */
export function EndpointTable({ endpoints }: { readonly endpoints: readonly EndpointCalls[] }) {
  if (endpoints.length === 0) {
    return <p class="muted">No saved query was called within the last hour.</p>;
  }
  const rows = endpoints.map(({ name, calls, failed, p50_ms, p95_ms }) => [
    { text: name },
    { text: formatCount(calls), isNumber: true },
    { text: formatCount(failed), isNumber: true },
    { text: formatMs(p50_ms), isNumber: true },
    { text: formatMs(p95_ms), isNumber: true },
  ]);
  const columns = [
    { text: 'saved query' },
    { text: 'calls', isNumber: true },
    { text: 'failed', isNumber: true },
    { text: 'p50', isNumber: true },
    { text: 'p95', isNumber: true },
  ];
  return <TableOf title="Calls within the last hour" columns={columns} rows={rows} />;
}

function TableOf(props: {
  readonly title: string;
  readonly columns: readonly Cell[];
  readonly rows: readonly (readonly Cell[])[];
}) {
  const { title, columns, rows } = props;
  return (
    <section class="service-part">
      <h2>{title}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys. */}
      <section class="table-frame" aria-label={title} tabIndex={0}>
        <table class="table">
          <thead>
            <tr>
              {columns.map(({ text, isNumber }) => (
                <th key={text} scope="col" class={isNumber === true ? 'number' : ''}>
                  {text}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((cells) => (
              <tr key={cells[0]?.text}>
                {cells.map(({ text, isNumber }, index) => (
                  <td key={index} class={isNumber === true ? 'number' : ''}>
                    {text}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}
