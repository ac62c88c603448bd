import type { Pieces, Tenant } from '../../engine/index.ts';
import { ServiceError } from '../errors.ts';
import {
  CALLER_SQL_CHARACTER_BYTES,
  CALLER_SQL_TURN_BYTES,
  CALLER_SQL_WAITING_MAX,
} from '../limits.ts';
import type { WorkTurns } from './work-turns.ts';

/**
 * Processes a caller's SQL text on the main thread, in turns with the texts of other tenants and with posts: binds it,
 * or plans and starts it. If the result is a promise, it is awaited.
 *
 * @throws ServiceError if too much work of this tenant waits, or if its caller disconnects meanwhile.
 */
export async function workOnSql<T>(
  turns: WorkTurns,
  call: { readonly sql: string; readonly tenant: Tenant; readonly isGone: () => boolean },
  pieces: Pieces<T>,
): Promise<Awaited<T>> {
  const { sql, tenant, isGone } = call;
  if (turns.waitingCount(tenant) >= CALLER_SQL_WAITING_MAX) {
    const message = `at most ${CALLER_SQL_WAITING_MAX} SQL texts of a token may wait at once; the limit is reached`;
    throw new ServiceError('overloaded', message);
  }
  const start = async (): Promise<IteratorResult<undefined, T>> => {
    if (isGone()) {
      throw new ServiceError('query_cancelled', 'the caller disconnected before the answer');
    }
    return turns.advance(pieces);
  };
  const size = Math.min(CALLER_SQL_CHARACTER_BYTES * sql.length, CALLER_SQL_TURN_BYTES);
  for (;;) {
    const step = await turns.run({ tenant, size, start });
    if (step.done === true) return await step.value;
  }
}
