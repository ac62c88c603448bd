/** The parts of a statement about a table that differ where the table is on all replicas of a cluster. */
export type TableEngine = {
  /** Behind the name of the table. */
  readonly onCluster: string;
  readonly engine: string;
  /** The setting for how many deduplication tokens of inserts ClickHouse remembers. */
  readonly windowSetting: string;
};

/** Without a cluster the table is on one server. */
export function tableEngineOf(cluster: string | undefined): TableEngine {
  if (cluster === undefined) {
    const windowSetting = 'non_replicated_deduplication_window';
    return { onCluster: '', engine: 'MergeTree', windowSetting };
  }
  const windowSetting = 'replicated_deduplication_window';
  return { onCluster: ` ON CLUSTER ${cluster}`, engine: 'ReplicatedMergeTree', windowSetting };
}
