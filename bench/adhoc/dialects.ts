import { sourceOf } from '../workload/workload.ts';

/** How one engine writes what callers ask of lean edge events. Texts given to its functions have no quote. */
export type AdhocDialect = {
  readonly path: string;
  readonly url: string;
  readonly method: string;
  readonly message: string;
  readonly project: string;
  readonly status: string;
  readonly originTime: string;
  /** Whole microseconds in answers. */
  readonly time: string;
  /** The events; `parts`: whether the request or the response is read. */
  readonly from: (parts: '' | 'q' | 'r' | 'qr') => string;
  /** The same, once for each part of a text between separators, as `part`. */
  readonly fromParts: (text: string, separator: string) => string;
  readonly since: (us: number) => string;
  readonly before: (us: number) => string;
  readonly hour: string;
  readonly matches: (text: string, pattern: string) => string;
  /** The group of a pattern; NULL or an empty text where it does not match. */
  readonly extract: (text: string, pattern: string) => string;
  readonly position: (text: string, part: string) => string;
  /** The part of a text at an index from 0; NULL or an empty text where there is none. */
  readonly splitAt: (text: string, separator: string, index: number) => string;
  readonly splitLength: (text: string, separator: string) => string;
  /** Characters of a list of texts as JSON without spaces. */
  readonly jsonLength: (texts: readonly string[]) => string;
  /** Reads a text out of JSON that it is written into. */
  readonly throughJson: (text: string) => string;
};

const HOUR_US = 3_600_000_000;

const COLUMNS = {
  ...{ path: 'path', url: 'url', method: 'method', message: 'event_message', project: 'project' },
  ...{ status: 'status_code', originTime: 'origin_time', time: 'timestamp' },
  hour: `timestamp - timestamp % ${HOUR_US}`,
};

const PEER = {
  ...COLUMNS,
  from: () => 'edge',
  since: (us: number) => `timestamp >= ${us}`,
  before: (us: number) => `timestamp < ${us}`,
};

export const WEIR: AdhocDialect = {
  ...{ path: 'q.path', url: 'q.url', method: 'q.method' },
  ...{ message: 't.event_message', project: 't.project', time: 't.timestamp' },
  ...{ status: 'r.status_code', originTime: 'r.origin_time' },
  from: weirFrom,
  fromParts: (text, separator) =>
    `${weirFrom('q')} CROSS JOIN UNNEST(SPLIT(${text}, '${separator}')) AS part`,
  since: (us) => `t.timestamp >= TIMESTAMP_MICROS(${us})`,
  before: (us) => `t.timestamp < TIMESTAMP_MICROS(${us})`,
  hour: 'TIMESTAMP_TRUNC(t.timestamp, HOUR)',
  matches: (text, pattern) => `REGEXP_CONTAINS(${text}, r'${pattern}')`,
  extract: (text, pattern) => `REGEXP_EXTRACT(${text}, r'${pattern}')`,
  position: (text, part) => `STRPOS(${text}, '${part}')`,
  splitAt: (text, separator, index) => `SPLIT(${text}, '${separator}')[SAFE_OFFSET(${index})]`,
  splitLength: (text, separator) => `ARRAY_LENGTH(SPLIT(${text}, '${separator}'))`,
  jsonLength: (texts) => `LENGTH(TO_JSON_STRING([${texts.join(', ')}]))`,
  throughJson: (text) => `JSON_VALUE(CONCAT('{"a":{"b":"', ${text}, '"}}'), '$.a.b')`,
};

export const DUCKDB: AdhocDialect = {
  ...PEER,
  fromParts: (text, separator) =>
    `edge CROSS JOIN UNNEST(string_split(${text}, '${separator}')) AS parts(part)`,
  matches: (text, pattern) => `regexp_matches(${text}, '${pattern}')`,
  extract: (text, pattern) => `regexp_extract(${text}, '${pattern}', 1)`,
  position: (text, part) => `strpos(${text}, '${part}')`,
  splitAt: (text, separator, index) => `split_part(${text}, '${separator}', ${index + 1})`,
  splitLength: (text, separator) => `len(string_split(${text}, '${separator}'))`,
  jsonLength: (texts) => `length(CAST(to_json([${texts.join(', ')}]) AS VARCHAR))`,
  throughJson: (text) => `json_extract_string(concat('{"a":{"b":"', ${text}, '"}}'), '$.a.b')`,
};

export const CLICKHOUSE: AdhocDialect = {
  ...PEER,
  fromParts: (text, separator) => `edge ARRAY JOIN splitByChar('${separator}', ${text}) AS part`,
  matches: (text, pattern) => `match(${text}, '${escaped(pattern)}')`,
  extract: (text, pattern) => `extract(${text}, '${escaped(pattern)}')`,
  position: (text, part) => `position(${text}, '${part}')`,
  splitAt: (text, separator, index) => `splitByChar('${separator}', ${text})[${index + 1}]`,
  splitLength: (text, separator) => `length(splitByChar('${separator}', ${text}))`,
  // It would put a backslash before each slash.
  jsonLength: (texts) =>
    `length(replaceAll(toJSONString([${texts.map((text) => `toString(${text})`).join(', ')}]), '\\\\/', '/'))`,
  throughJson: (text) => `JSONExtractString(concat('{"a":{"b":"', ${text}, '"}}'), 'a', 'b')`,
};

function weirFrom(parts: '' | 'q' | 'r' | 'qr'): string {
  const joins = [
    ...(parts === '' ? [] : ['UNNEST(t.metadata) AS m']),
    ...(parts.includes('q') ? ['UNNEST(m.request) AS q'] : []),
    ...(parts.includes('r') ? ['UNNEST(m.response) AS r'] : []),
  ];
  return [`\`${sourceOf('lean')}\` AS t`, ...joins].join(' CROSS JOIN ');
}

/** ClickHouse takes a backslash in a text as the start of an escape. */
function escaped(pattern: string): string {
  return pattern.replaceAll('\\', '\\\\');
}
