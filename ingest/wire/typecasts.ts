import { ATTRIBUTE_DEPTH_MAX } from '../limits.ts';
import { batchBody } from './batch-body.ts';
import type { EventTexts } from './event-texts.ts';
import { type JsonPlace, JsonReader } from './json-reader.ts';
import { ObjectText } from './json-text.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/** What is at `path` is a string, and should be a number. */
type Typecast = { readonly path: readonly string[] };

/**
 * Logflare's `/typecasts`: `{"batch": [{"body": event, "typecasts": [{"path": [keys], "from": "string", "to":
 * "float"}]}]}`, for senders whose JSON has no numbers of 64 bits. A string that is no number stays one; so does
 * the event with what is asked for otherwise. What has no `typecasts` is an event as it is.
 */
export const typecasts: WireFormat = {
  *translate(body: WireBody, events: EventTexts): Generator<number, void> {
    const reader = new JsonReader(body.pieces, body);
    yield* batchBody(reader, events, () => castEvent(reader));
  },
};

function castEvent(reader: JsonReader): string {
  const whole = { start: reader.position };
  let body: JsonPlace | undefined;
  let casts: readonly Typecast[] | undefined;
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    if (key === 'body') body = reader.skip();
    else if (key === 'typecasts') casts = typecastsOf(reader);
  }
  const next = { start: reader.position };
  reader.goTo(body === undefined || casts === undefined ? whole : body);
  const text = casts === undefined || body === undefined ? reader.json() : castText(reader, casts);
  reader.goTo(next);
  return text;
}

function typecastsOf(reader: JsonReader): readonly Typecast[] {
  const casts: Typecast[] = [];
  reader.enterList();
  while (reader.hasNext()) {
    const path: string[] = [];
    let [from, to]: (string | undefined)[] = [];
    reader.enterObject();
    for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
      if (key === 'from') from = reader.text();
      else if (key === 'to') to = reader.text();
      else if (key === 'path') {
        reader.enterList();
        while (reader.hasNext()) path.push(reader.text());
      }
    }
    if (path.length === 0 || path.length > ATTRIBUTE_DEPTH_MAX) {
      reader.fail(`a typecast with a path of 1 to ${ATTRIBUTE_DEPTH_MAX} keys`);
    }
    if (from === 'string' && (to === 'float' || to === 'integer')) casts.push({ path });
  }
  return casts;
}

/** The value that is due, with what the casts are for made numbers; no deeper than their paths. */
function castText(reader: JsonReader, casts: readonly Typecast[]): string {
  if (casts.length === 0) return reader.json();
  switch (reader.kind()) {
    case 'object': {
      const object = new ObjectText();
      reader.enterObject();
      for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
        object.add(key, castText(reader, below(casts, key)));
      }
      return object.toString();
    }
    case 'list': {
      const elements: string[] = [];
      reader.enterList();
      while (reader.hasNext()) elements.push(castText(reader, casts));
      return `[${elements.join(',')}]`;
    }
    case 'string': {
      const json = reader.json();
      return casts.some(({ path }) => path.length === 0) ? numberText(json) : json;
    }
    default:
      return reader.json();
  }
}

function below(casts: readonly Typecast[], key: string): readonly Typecast[] {
  return casts.filter(({ path }) => path[0] === key).map(({ path }) => ({ path: path.slice(1) }));
}

/** The digits of a string that is a number in JSON, else the string. */
function numberText(json: string): string {
  const text = json.slice(1, -1);
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? text : json;
}
