import type { JsonPlace, JsonReader } from './json-reader.ts';
import { WantedKeys } from './wanted-keys.ts';

/** The keys of an object with a head and a list. */
type ListNames = {
  readonly head: string;
  readonly list: string;
  /** Other keys, whose values are ignored. */
  readonly also?: readonly string[];
};

/**
 * Reads the next object: first the value of `head`, then each element of `list`. If the list comes first, which is
 * rare, it is read after the head. Null counts as absent, because some languages encode empty lists so. An object with
 * unknown keys only is refused.
 */
export function* headThenList(
  reader: JsonReader,
  { head, list, also = [] }: ListNames,
  readHead: () => void,
  readElement: () => Generator<number, void>,
): Generator<number, void> {
  const waiting: JsonPlace[] = [];
  const keys = new WantedKeys(list, head, ...also);
  let hasHead = false;
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    keys.add(key);
    yield reader.position;
    if (reader.kind() === 'null') continue;
    if (key === head) {
      readHead();
      hasHead = true;
    } else if (key === list) {
      if (hasHead) yield* elements(reader, readElement);
      else waiting.push(reader.skip());
    }
  }
  keys.check(`an object with ${list}`, { mayBeEmpty: true });
  const next = { start: reader.position };
  for (const place of waiting) {
    reader.goTo(place);
    yield* elements(reader, readElement);
  }
  reader.goTo(next);
  // Also after an object without keys: there may be a million of them.
  yield reader.position;
}

function* elements(
  reader: JsonReader,
  read: () => Generator<number, void>,
): Generator<number, void> {
  reader.enterList();
  while (reader.hasNext()) yield* read();
}
