import type { Source } from '../../ingest/source.ts';
import type { Grant } from '../access/grant.ts';
import type { TransportRequest } from '../http/transport.ts';
import { POST_REPORTS_MAX } from '../limits.ts';
import type { StoredLogs } from '../store/log-intake.ts';
import { type PostAnswer, PostReport, type PostSender } from './post-report.ts';

/**
 * What became of the posts since the service started, by token and receiver. It answers the question why somebody does
 * not see their logs. It keeps POST_REPORTS_MAX reports: those of the senders that posted last.
 */
export class PostHistory {
  /** The sender that posted last is last. */
  readonly #reports = new Map<string, PostReport>();
  readonly #wallMs: () => number;
  /** When the first post could have come, in milliseconds since the epoch. */
  readonly sinceMs: number;

  /** `wallMs`: milliseconds since the epoch. */
  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
    this.sinceMs = wallMs();
  }

  /** Called when a post was answered, whether it was stored or not. */
  addAnswer(sender: PostSender, answer: Omit<PostAnswer, 'atMs'>): void {
    this.#report(sender).addAnswer({ atMs: this.#wallMs(), ...answer });
  }

  /** Called when events of a post were stored or refused, once for each source. */
  addStored(sender: PostSender, source: Source, stored: StoredLogs): void {
    this.#report(sender).addStored(source, stored, this.#wallMs());
  }

  /** The sender that posted last comes first. */
  list(): readonly PostReport[] {
    return [...this.#reports.values()].reverse();
  }

  #report(sender: PostSender): PostReport {
    const key = `${sender.token?.id ?? ''} ${sender.receiver}`;
    const report = this.#reports.get(key) ?? new PostReport(sender);
    this.#reports.delete(key);
    this.#reports.set(key, report);
    if (this.#reports.size > POST_REPORTS_MAX) {
      const [oldest] = this.#reports.keys();
      if (oldest !== undefined) this.#reports.delete(oldest);
    }
    return report;
  }
}

/** The sender of a post whose token was accepted, or of one whose token was refused. */
export function identifySender(
  { route }: Pick<TransportRequest, 'route'>,
  grant: Grant | undefined,
): PostSender {
  return { receiver: route.path, token: grant && { id: grant.id, name: grant.name } };
}
