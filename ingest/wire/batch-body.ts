import { ADDRESS_KEYS } from '../known-key.ts';
import type { EventTexts } from './event-texts.ts';
import type { JsonReader } from './json-reader.ts';
import { postedEvent } from './posted-event.ts';
import { WantedKeys } from './wanted-keys.ts';

const KEYS: readonly string[] = ADDRESS_KEYS;

/**
 * Reads a body of Logflare's own senders: `{"batch": [event, …], "source": …}`. The source may be named by any of
 * ADDRESS_KEYS, of which the first counts. `readEvent` returns the JSON text of the next object.
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
