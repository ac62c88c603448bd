import type { JsonPlace, JsonReader } from './json-reader.ts';
import { WantedKeys } from './wanted-keys.ts';

/** What the members of an object are called. */
type ListNames = {
  readonly head: string;
  readonly list: string;
  /** Others that are passed over. */
  readonly also?: readonly string[];
};

/**
 * Reads the object that is due: what is under `head` first, then each element under `list`. Where the list comes
 * before it, which no sender that was seen does, it waits. Null is as good as nothing: languages that know no empty
 * list write it so. One with nothing but keys that are not known is refused.
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
  // Of an object without a key, too: there may be a million of them.
  yield reader.position;
}

function* elements(
  reader: JsonReader,
  read: () => Generator<number, void>,
): Generator<number, void> {
  reader.enterList();
  while (reader.hasNext()) yield* read();
}
