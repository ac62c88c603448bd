import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask } from '../api/client.ts';
import { useResource } from '../state/resource.ts';
import { may } from '../state/session.ts';
import type { SchemaNames } from './sql-dialect.ts';

type Named = { readonly name: string };

/** Columns that every source has. */
const COLUMNS = [
  { name: 'id', kind: 'STRING' },
  { name: 'timestamp', kind: 'TIMESTAMP' },
  { name: 'event_message', kind: 'STRING' },
  { name: 'project', kind: 'STRING' },
  { name: 'metadata', kind: 'ARRAY<STRUCT>' },
];

/** What the editor offers; the names of tables come a moment later. `parameters` has spaces between its names. */
export function useSchemaNames(parameters: string): SchemaNames {
  const [tables, setTables] = useState<SchemaNames['tables']>([]);
  const [sources] = useResource((signal) => askNames('api/sources', signal), []);
  const [endpoints] = useResource(
    (signal) => (may('manage') ? askNames('api/endpoints', signal) : Promise.resolve([])),
    [],
  );
  useEffect(() => {
    const of = (list: typeof sources, kind: string) =>
      list.state === 'ready' ? list.value.map(({ name }) => ({ name, kind })) : [];
    setTables([...of(sources, 'source'), ...of(endpoints, 'saved query')]);
  }, [sources, endpoints]);
  return useMemo(
    () => ({
      tables,
      columns: COLUMNS,
      parameters: parameters.split(' ').filter((one) => one !== ''),
    }),
    [tables, parameters],
  );
}

/** The profile `supabase` lists sources without an object around them. */
async function askNames(path: string, signal: AbortSignal): Promise<readonly Named[]> {
  const value = await ask<{ readonly result: readonly Named[] } | readonly Named[]>(path, {
    signal,
  });
  return 'result' in value ? value.result : value;
}
