import { randomBytes } from 'node:crypto';
import type { Tenant } from '../../engine/index.ts';
import type { Grant } from '../access/grant.ts';
import { toTenant } from '../access/tenant.ts';
import { ServiceError } from '../errors.ts';
import { TICKET_MS_MAX, TICKETS_MAX, TICKETS_OF_TOKEN_MAX } from '../limits.ts';

/** The right to one download, for whoever has its id. */
export type DownloadTicket<Order> = {
  /** 192 random bits. It is also the id of the download's progress. */
  readonly id: string;
  /** The grant of the token that made it. */
  readonly grant: Grant;
  readonly order: Order;
  /** In milliseconds since the epoch, on the machine's clock. */
  readonly expiresMs: number;
};

const ID_BYTES = 24;

/**
 * The tickets that were not used yet.
 *
 * Invariant: there are at most TICKETS_MAX of them, and TICKETS_OF_TOKEN_MAX of one token.
 */
export class DownloadTickets<Order> {
  readonly #wallMs: () => number;
  readonly #tickets = new Map<string, DownloadTicket<Order>>();

  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
  }

  /** @throws ServiceError when too many are open. */
  make(grant: Grant, order: Order): DownloadTicket<Order> {
    this.#dropExpired();
    this.#checkRoom(toTenant(grant));
    const id = randomBytes(ID_BYTES).toString('base64url');
    const ticket = { id, grant, order, expiresMs: this.#wallMs() + TICKET_MS_MAX };
    this.#tickets.set(id, ticket);
    return ticket;
  }

  /** @throws ServiceError when there is no such ticket, or not any more. */
  mustFind(id: string): DownloadTicket<Order> {
    this.#dropExpired();
    const ticket = this.#tickets.get(id);
    if (ticket !== undefined) return ticket;
    const message = `there is no such ticket: it works once, within ${TICKET_MS_MAX} ms`;
    throw new ServiceError('unknown_ticket', message);
  }

  /** Finds a ticket and makes it void. @throws ServiceError as `mustFind` does. */
  mustTake(id: string): DownloadTicket<Order> {
    const ticket = this.mustFind(id);
    this.#tickets.delete(id);
    return ticket;
  }

  #checkRoom(tenant: Tenant): void {
    let count = 0;
    for (const { grant } of this.#tickets.values()) if (toTenant(grant) === tenant) count++;
    if (count >= TICKETS_OF_TOKEN_MAX) throw tooMany(TICKETS_OF_TOKEN_MAX, ' of a token');
    if (this.#tickets.size >= TICKETS_MAX) throw tooMany(TICKETS_MAX, '');
  }

  #dropExpired(): void {
    const nowMs = this.#wallMs();
    for (const { id, expiresMs } of this.#tickets.values()) {
      if (nowMs >= expiresMs) this.#tickets.delete(id);
    }
  }
}

function tooMany(max: number, whose: string): ServiceError {
  const message = `at most ${max} download tickets${whose} may be open at once; the limit is reached. One is open until it is used, at most ${TICKET_MS_MAX} ms`;
  return new ServiceError('overloaded', message);
}
