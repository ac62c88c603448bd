import { ADDRESS_KEYS } from '../known-key.ts';
import type { EventTexts } from './event-texts.ts';
import type { JsonReader } from './json-reader.ts';
import { postedEvent } from './posted-event.ts';
import { WantedKeys } from './wanted-keys.ts';

const KEYS: readonly string[] = ADDRESS_KEYS;

/**
 * Reads a body as Logflare's own senders write it: `{"batch": [event, …], "source": …}`, where a source may be
 * named by any of ADDRESS_KEYS, the first of which counts. `readEvent` gives the JSON text of the object that is due.
 */
export function* batchBody(
  reader: JsonReader,
  events: EventTexts,
  readEvent: () => string,
): Generator<number, void> {
  const keys = new WantedKeys('batch');
  let rank = KEYS.length;
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    keys.add(key);
    yield reader.position;
    if (key === 'batch') {
      reader.enterList();
      while (reader.hasNext()) {
        events.addPosted(reader.tryEvent(() => postedEvent(reader, readEvent)));
        yield reader.position;
      }
      continue;
    }
    const found = KEYS.indexOf(key);
    if (found < 0 || found > rank || reader.kind() !== 'string') continue;
    const address = reader.text();
    if (address === '') continue;
    events.bodyAddress = address;
    rank = found;
  }
  reader.endText();
  keys.check('the body', { mayBeEmpty: false });
}
