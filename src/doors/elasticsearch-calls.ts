/** What a request is about. */
type Asked = {
  /** The last parameter of the path; empty if it has none. */
  readonly name: string;
  /** The host and port at which the client has reached the service. */
  readonly address: string;
};

/** A request of clients of Elasticsearch that stores nothing, and its answers. */
export type ElasticsearchCall = {
  /** Below each base path. `:name` is any name. */
  readonly path: string;
  readonly summary: string;
  /** The answer to GET. */
  readonly read: (asked: Asked) => object;
  /** The answers to other methods. Their bodies are discarded. */
  readonly written?: Readonly<Partial<Record<'PUT' | 'POST', object>>>;
};

const LICENSE = { uid: '_na_', type: 'basic', mode: 'basic', status: 'active' } as const;

const ACKNOWLEDGED = { acknowledged: true };

/** Stored events are visible at once, so there is nothing to do. */
const REFRESHED = { _shards: { total: 1, successful: 1, failed: 0 } };

const STATE = 'Answer what clients of Elasticsearch check before they send';
const SET_UP = 'Answer the set-up of clients of Elasticsearch; weir needs none';

/**
 * All of these requests, with the senders that make them and what these must see:
 *
 * - Vector (`src/sinks/elasticsearch/common.rs`): `/_cluster/health` with status 200.
 * - Beats (`libbeat/licenser`): an active license. `libbeat/idxmgmt/lifecycle`, `libbeat/template`: a lifecycle policy, a
 *   template and a data stream are created unless GET or HEAD finds them. Version 7 asks `/_xpack` whether there are
 *   lifecycle policies, and then for an alias. Ingest modules ask for processors at `/_nodes/ingest`.
 * - Logstash (`lib/logstash/outputs/elasticsearch`): an active license, a template, a policy, an index (`indexRoute`).
 * - Fluentd (`fluent-plugin-elasticsearch`): a template, an alias; that `ilm` is available and enabled.
 * - winston-elasticsearch (`bulk_writer.js`): `HEAD /_index_template/NAME`, and PUT if there is none.
 * - Official clients ("sniffing"): at least one node, or they have no address left. They refresh after a bulk if they
 *   are told to.
 *
 * Everything that is asked for exists, so few senders create it. What they create is acknowledged, because some do so in
 * any case, and repeat it until it succeeds.
 */
export const ELASTICSEARCH_CALLS: readonly ElasticsearchCall[] = [
  {
    path: '/_cluster/health',
    summary: STATE,
    read: () => ({ cluster_name: 'weir', status: 'green', timed_out: false }),
  },
  {
    path: '/_cat/health',
    summary: STATE,
    read: () => [{ cluster: 'weir', status: 'green' }],
  },
  { path: '/_license', summary: STATE, read: () => ({ license: LICENSE }) },
  {
    path: '/_xpack',
    summary: STATE,
    read: () => ({ license: LICENSE, features: { ilm: { available: true, enabled: true } } }),
  },
  ...['/_nodes', '/_nodes/:name', '/_nodes/:group/:name'].map((path) => ({
    path,
    summary: STATE,
    read: ({ address }: Asked) => ({
      cluster_name: 'weir',
      nodes: {
        weir: {
          name: 'weir',
          roles: ['data', 'ingest', 'master'],
          http: { publish_address: address },
          ingest: { processors: [] },
        },
      },
    }),
  })),
  ...['/_refresh', '/:name/_refresh'].map((path) => ({
    path,
    summary: 'Refresh; stored events are visible without it',
    read: () => REFRESHED,
    written: { POST: REFRESHED },
  })),
  {
    path: '/_index_template/:name',
    summary: SET_UP,
    read: ({ name }) => ({
      index_templates: [{ name, index_template: { index_patterns: ['*'], composed_of: [] } }],
    }),
    written: { PUT: ACKNOWLEDGED, POST: ACKNOWLEDGED },
  },
  {
    path: '/_component_template/:name',
    summary: SET_UP,
    read: ({ name }) => ({
      component_templates: [{ name, component_template: { template: {} } }],
    }),
    written: { PUT: ACKNOWLEDGED, POST: ACKNOWLEDGED },
  },
  {
    path: '/_template/:name',
    summary: SET_UP,
    read: ({ name }) => ({ [name]: { index_patterns: ['*'], settings: {}, mappings: {} } }),
    written: { PUT: ACKNOWLEDGED, POST: ACKNOWLEDGED },
  },
  { path: '/_ilm/policy', summary: SET_UP, read: () => ({}) },
  {
    path: '/_ilm/policy/:name',
    summary: SET_UP,
    read: ({ name }) => ({ [name]: { version: 1, policy: { phases: {} } } }),
    written: { PUT: ACKNOWLEDGED },
  },
  {
    path: '/_data_stream/:name',
    summary: SET_UP,
    read: ({ name }) => ({
      data_streams: [
        {
          name,
          timestamp_field: { name: '@timestamp' },
          indices: [],
          generation: 1,
          status: 'GREEN',
          template: name,
        },
      ],
    }),
    written: { PUT: ACKNOWLEDGED },
  },
  {
    path: '/_alias/:name',
    summary: SET_UP,
    read: ({ name }) => ({ [name]: { aliases: { [name]: { is_write_index: true } } } }),
  },
  {
    path: '/_ingest/pipeline/:name',
    summary: SET_UP,
    read: ({ name }) => ({ [name]: { processors: [] } }),
    written: { PUT: ACKNOWLEDGED },
  },
];
