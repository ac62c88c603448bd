import type { JsonWriter } from '../../engine/column/json-buffer.ts';
import type { Nested, SqlValue } from '../../engine/column/value.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A record or list out of plain JSON, written back as it is. */
export function jsonNested(json: Extract<Json, object>): Nested {
  const isList = Array.isArray(json);
  const record = isList ? undefined : (json as { readonly [key: string]: Json });
  const nested: Nested = {
    isList,
    field: (name) => asValue(record?.[name] ?? null),
    elements: () => (isList ? (json as readonly Json[]).map(asValue) : [nested]),
    writeJson: (out: JsonWriter) => {
      const bytes = Buffer.from(JSON.stringify(json));
      out.rawBytes(bytes, 0, bytes.length);
    },
  };
  return nested;
}

function asValue(json: Json): SqlValue {
  return typeof json === 'object' && json !== null ? jsonNested(json) : json;
}
