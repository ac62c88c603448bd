import { ATTRIBUTE_DEPTH_MAX } from '../limits.ts';
import { batchBody } from './batch-body.ts';
import type { EventTexts } from './event-texts.ts';
import { type JsonPlace, JsonReader } from './json-reader.ts';
import { ObjectText } from './json-text.ts';
import type { WireBody, WireFormat } from './wire-format.ts';

/**
 * The paths of strings to cast to numbers, as a tree, so that the time to find a key's casts does not depend on their
 * number.
 */
type CastTree = { isNumber: boolean; readonly below: Map<string, CastTree> };

/**
 * Logflare's `/typecasts`: `{"batch": [{"body": event, "typecasts": [{"path": [keys], "from": "string", "to":
 * "float"}]}]}`, for senders whose JSON has no 64-bit numbers. A string that is not a number remains a string, and
 * other casts are ignored. An element without `typecasts` is an event itself.
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
  let casts: CastTree | undefined;
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    if (key === 'body') body = reader.skip();
    else if (key === 'typecasts') casts = castTree(reader);
  }
  const next = { start: reader.position };
  reader.goTo(body === undefined || casts === undefined ? whole : body);
  const text =
    casts === undefined || body === undefined ? reader.json() : castText(reader, casts, 1);
  reader.goTo(next);
  return text;
}

function castTree(reader: JsonReader): CastTree {
  const tree = newTree();
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
    if (from === 'string' && (to === 'float' || to === 'integer')) addPath(tree, path);
  }
  return tree;
}

function newTree(): CastTree {
  return { isNumber: false, below: new Map() };
}

function addPath(tree: CastTree, path: readonly string[]): void {
  let end = tree;
  for (const key of path) {
    let next = end.below.get(key);
    if (next === undefined) {
      next = newTree();
      end.below.set(key, next);
    }
    end = next;
  }
  end.isNumber = true;
}

/**
 * The text of the next value, with the strings at the casts' paths as numbers. Recurses only as deep as the paths, and
 * at most ATTRIBUTE_DEPTH_MAX into nested lists.
 */
function castText(reader: JsonReader, casts: CastTree, level: number): string {
  switch (reader.kind()) {
    case 'object': {
      const object = new ObjectText();
      reader.enterObject();
      for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
        const below = casts.below.get(key);
        object.add(key, below === undefined ? reader.json() : castText(reader, below, level));
      }
      return object.toString();
    }
    case 'list': {
      if (level > ATTRIBUTE_DEPTH_MAX) return reader.json();
      const elements: string[] = [];
      reader.enterList();
      while (reader.hasNext()) elements.push(castText(reader, casts, level + 1));
      return `[${elements.join(',')}]`;
    }
    case 'string': {
      const json = reader.json();
      return casts.isNumber ? numberText(json) : json;
    }
    default:
      return reader.json();
  }
}

/** The digits of a string that is a JSON number, else the string. */
function numberText(json: string): string {
  const text = json.slice(1, -1);
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? text : json;
}
