import { NOW, us } from '../scripts/script.ts';
import type { ServiceUnderTest } from './service-under-test.ts';

const FIRST_PAGE_COUNT = 5_000;
const POSTS = 3;
const POST_COUNT = 4_000;

/** The events of `postLongEvents`. */
export const LONG_COUNT = FIRST_PAGE_COUNT + POSTS * POST_COUNT;

/** More bytes than a first page of `postLongEvents` has, in any format. */
export const BEGUN_BYTES = 1_000_000;

/**
 * Posts events whose download stays amid its way when its caller stops after BEGUN_BYTES: a page of short ones, and before
 * them 30 MB. The system gives a connection larger buffers the more its caller has read, up to 32 MiB and more.
 */
export async function postLongEvents(service: ServiceUnderTest, source: string): Promise<void> {
  const nowUs = us(NOW);
  const post = (name: string, count: number, startUs: number, length: number): Promise<void> => {
    const event = { project: 'alpha', event_message: 'x'.repeat(length) };
    const events = Array.from({ length: count }, (_, index) => ({
      ...event,
      id: `${name}-${index}`,
      timestamp: startUs + index,
    }));
    return service.post(source, events, nowUs);
  };
  for (let number = 0; number < POSTS; number++) {
    await post(`long-${number}`, POST_COUNT, nowUs - 60_000_000 + POST_COUNT * number, 2_500);
  }
  await post('short', FIRST_PAGE_COUNT, nowUs - 30_000_000, 1);
}
