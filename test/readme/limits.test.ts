import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SPILL_FREE_BYTES_MIN, SPILLED_BYTES_MAX } from '../../engine/column/spill-file.ts';
import { JSON_VALUE_DEPTH_MAX } from '../../engine/function/json/json-value.ts';
import * as engine from '../../engine/limits.ts';
import * as ingest from '../../ingest/limits.ts';
import * as service from '../../src/limits.ts';
import { readText } from '../support/source-files.ts';

/** The cells of the table that must say what a constant says, by the first cell of their row. */
const LIMITS: Readonly<Record<string, string>> = {
  'URL and headers': `${kibibytes(service.HEADERS_BYTES_MAX)} (${kibibytes(service.HEADERS_WITH_SQL_BYTES_MAX)} with \`PROFILE=supabase\`), within ${seconds(service.HEADERS_MS_MAX)}`,
  'time for a body to arrive': `${seconds(service.BODY_MS_MAX)}, and one second more for each ${kibibytes(service.BODY_BYTES_PER_S_MIN)} received; at most ${seconds(service.REQUEST_MS_MAX)}`,
  'reading an answer': `at least ${kibibytes(service.ANSWER_BYTES_PER_S_MIN)} per second, averaged over ${seconds(service.ANSWER_MS_MAX)}`,
  connections: count(service.CONNECTIONS_MAX),
  'connections of gRPC': count(service.GRPC_CONNECTIONS_MAX),
  'calls of gRPC at once': `${count(service.GRPC_CALLS_MAX)}; ${service.GRPC_STREAMS_MAX} of one connection`,
  'body of logs': `${count(ingest.BODY_BYTES_MAX)} bytes after decompression; ${count(ingest.BODY_EVENTS_MAX)} events`,
  'one event': `${count(ingest.EVENT_FIELDS_MAX)} keys and maps`,
  '`_id` of an Elasticsearch bulk': `${count(ingest.BULK_ID_LENGTH_MAX)} characters`,
  'actions of an Elasticsearch bulk': count(ingest.BULK_ACTIONS_MAX),
  'ids of a question for acknowledgements (Splunk)': count(service.ACKS_MAX),
  '`filter_path` of an Elasticsearch request': `${count(service.FILTER_PATH_LENGTH_MAX)} characters`,
  'body of a download ticket': `${count(service.EXPLORE_BODY_BYTES_MAX)} bytes`,
  'open download tickets': `${service.TICKETS_OF_TOKEN_MAX} of a token, ${service.TICKETS_MAX} in all`,
  'body of a call or of management': `${service.CALL_BODY_BYTES_MAX / 1e6} MB; ${service.JSON_DEPTH_MAX} levels of JSON`,
  'SQL of a caller': `${count(service.CALLER_SQL_LENGTH_MAX)} characters; ${count(engine.SQL_TOKENS_WITHIN_MAX)} words, numbers and symbols; ${count(engine.BOUND_NODES_WITHIN_MAX)} expressions`,
  'SQL of a definition': `${count(engine.SQL_LENGTH_MAX)} characters; ${count(engine.BOUND_NODES_MAX)} expressions`,
  'any SQL': `${engine.SQL_DEPTH_MAX} levels, chains of ${count(engine.SQL_TREE_DEPTH_MAX)}, ${engine.FROM_ITEMS_MAX} tables, ${count(engine.SELECT_COLUMNS_MAX)} columns`,
  'regular expression': `${count(engine.REGEX_LENGTH_MAX)} bytes; ${count(engine.REGEX_PROGRAM_MAX)} RE2 instructions`,
  'regular expression on one text': `${count(engine.REGEX_TEST_STEPS_MAX)} instructions × characters to test it, ${count(engine.REGEX_STEPS_MAX)} to extract from it`,
  'running time of a query': `${seconds(engine.QUERY_TIME_MS_MAX)}; ${seconds(service.QUERY_MS_MAX)} including waiting and pauses`,
  'rows of a sort, a window or one side of a join': count(engine.MATERIALIZED_ROWS_MAX),
  groups: count(engine.GROUPS_MAX),
  'distinct values of a query that do not fit into its memory': `${SPILLED_BYTES_MAX / 2 ** 30} GiB on disk; ${SPILL_FREE_BYTES_MIN / 2 ** 30} GiB of the disk stays free`,
  'text made by a function; generated array': `${count(engine.MADE_TEXT_LENGTH_MAX)} characters; ${count(engine.GENERATED_ARRAY_MAX)} elements`,
  'value of type JSON': `${JSON_VALUE_DEPTH_MAX} levels`,
  'bytes of an answer': `${engine.ANSWER_BYTES_MAX / 2 ** 20} MiB, less if \`MEMORY_LIMIT\` is below 4 GiB`,
};

/** Rows whose limit is a word, or a setting. */
const WITHOUT_NUMBER = ['content encodings of a body', 'memory of a query', 'rows of an answer'];

function count(value: number): string {
  return value.toLocaleString('en-US');
}

function kibibytes(bytes: number): string {
  return `${bytes / 1024} KiB`;
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}

test('the table of limits in docs/http-api.md matches the constants', () => {
  const [, section = ''] = readText('docs/http-api.md').split('\n## Limits\n');
  const rows = [...section.matchAll(/^\| (.+?) \| (.+?) \| .+ \|$/gm)].slice(1);
  const shown = Object.fromEntries(rows.map(([, what, limit]) => [what, limit]));
  for (const what of WITHOUT_NUMBER) {
    assert.ok(shown[what] !== undefined, `there is a row "${what}"`);
    delete shown[what];
  }
  assert.deepEqual(shown, LIMITS);
});
