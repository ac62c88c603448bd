import type { RecoveryProgress } from '../ingest/log/log-recovery.ts';
import { ServiceError } from './errors.ts';
import type { Damage, DamageKind, RecoveryObserver } from './store/backend.ts';

type State = 'starting' | 'recovering' | 'ready' | 'draining';

const REASONS: Readonly<Record<State, string | undefined>> = {
  starting: 'the service is starting',
  recovering: 'the service is starting: it reads what it has stored',
  ready: undefined,
  draining: 'the service is stopping',
};

/**
 * Why a running service is not fully healthy. The reasons are public: they name no definitions and
 * no paths.
 */
export type HealthReason = {
  readonly code: HealthCode;
  readonly message: string;
};

/** Codes of health reasons. They are stable; the sentences are not. */
export const HEALTH_CODES = [
  'posts_refused',
  'disk_nearly_full',
  'definitions_not_in_force',
  'damage',
  'workers_lost',
  'clock_ahead',
  'store_unavailable',
] as const;

type HealthCode = (typeof HEALTH_CODES)[number];

/** Codes of reasons for which posts are refused. */
export const REFUSING_CODES: ReadonlySet<HealthCode> = new Set([
  'posts_refused',
  'disk_nearly_full',
] as const);

/** What `/health` and `/ready` add to their status. */
export type HealthDetails = {
  readonly recovering?: {
    readonly posts_done: number;
    readonly bytes_done: number;
    readonly bytes_total: number;
  };
  /** The damage that was found. Undamaged data is served. */
  readonly damage?: {
    readonly places: number;
    readonly posts_lost: number;
    readonly segments_lost: number;
    /** Columns of segments whose values are lost while the rest of the segment is intact. */
    readonly columns_lost: number;
    /** Files in quarantine. `weir verify` and the log name them. */
    readonly quarantined: number;
  };
};

/**
 * Whether the service takes calls. Its state goes from starting to ready to draining, never back.
 */
export class Readiness implements RecoveryObserver {
  #state: State = 'starting';
  #progress: RecoveryProgress | undefined;
  #damage: HealthDetails['damage'];
  readonly #damagedPlaces = new Map<DamageKind, number>();
  #findReasons: () => readonly HealthReason[] = () => [];
  /** Functions that end waiting requests when the time for answers is over. */
  readonly #unanswered = new Set<() => void>();

  get state(): State {
    return this.#state;
  }

  /** Why calls are refused; `undefined` if they are taken. */
  get reason(): string | undefined {
    return REASONS[this.#state];
  }

  /** What is currently wrong with a service that takes calls; empty for one that does not. */
  get healthReasons(): readonly HealthReason[] {
    return this.#state === 'ready' ? this.#findReasons() : [];
  }

  /** `findReasons` is called for each request for the health. */
  watch(findReasons: () => readonly HealthReason[]): void {
    this.#findReasons = findReasons;
  }

  /** Places of damage found so far, by kind. A missing kind was not found. */
  get damagedPlaces(): ReadonlyMap<DamageKind, number> {
    return this.#damagedPlaces;
  }

  get details(): HealthDetails {
    const progress = this.#state === 'recovering' ? this.#progress : undefined;
    const damage = this.#damage;
    return {
      ...(progress && {
        recovering: {
          posts_done: progress.recordsDone,
          bytes_done: progress.bytesDone,
          bytes_total: progress.bytesTotal,
        },
      }),
      ...(damage && { damage }),
    };
  }

  progress(progress: RecoveryProgress): void {
    this.#progress = progress;
    if (this.#state === 'starting') this.#state = 'recovering';
  }

  damage(damage: Damage): void {
    const before = this.#damage;
    const { kind, places } = damage;
    this.#damagedPlaces.set(kind, (this.#damagedPlaces.get(kind) ?? 0) + places);
    this.#damage = {
      places: (before?.places ?? 0) + places,
      posts_lost: (before?.posts_lost ?? 0) + (damage.postsLost ?? 0),
      segments_lost: (before?.segments_lost ?? 0) + (damage.segmentsLost ?? 0),
      columns_lost: (before?.columns_lost ?? 0) + (damage.columnsLost ?? 0),
      quarantined: (before?.quarantined ?? 0) + (damage.quarantined?.length ?? 0),
    };
  }

  becomeReady(): void {
    if (this.#state !== 'draining') this.#state = 'ready';
  }

  beginDraining(): void {
    this.#state = 'draining';
  }

  /**
   * Calls `giveUp` when the time for answers is over. The function that it returns cancels that.
   */
  answering(giveUp: () => void): () => void {
    this.#unanswered.add(giveUp);
    return () => this.#unanswered.delete(giveUp);
  }

  /** Ends all requests that still wait when the time for answers is over. */
  giveUp(): void {
    for (const giveUp of this.#unanswered) giveUp();
    this.#unanswered.clear();
  }

  /** @throws ServiceError when calls are refused. */
  check(): void {
    if (this.reason === undefined) return;
    throw new ServiceError(this.#state === 'draining' ? 'draining' : 'not_ready', this.reason);
  }
}
