import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { must } from '../../engine/columns.ts';
import { TOKEN_REFUSALS, type TokenRefusal } from '../access/authenticate.ts';
import { QUOTA_KINDS, QUOTA_OWNERS, type QuotaKind, type QuotaOwner } from '../access/quotas.ts';
import { EventLoopDelay } from './event-loop-delay.ts';
import { addStatsMetrics, type Snapshot } from './stats-metrics.ts';

/** The result of a request. */
export type Outcome = {
  readonly status: number;
  /** `ok`, or the code of the error. */
  readonly code: string;
  readonly seconds: number;
};

/** The signals of OpenTelemetry that are not stored. */
export const OTHER_SIGNALS = ['traces', 'metrics'] as const;

export type OtherSignal = (typeof OTHER_SIGNALS)[number];

/**
 * Upper bounds in seconds, from below the fastest kept answer to the time limit of queries. Each
 * adds a line for each endpoint.
 */
const CALL_SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

/**
 * The metrics of one service, for Prometheus. Requests are counted here; other numbers are kept
 * where they change, and read at a scrape.
 *
 * Labels have few values: names of existing endpoints and sources, statuses, and codes of the table
 * in `errors.ts`.
 *
 * prom-client's default metrics are not used, because they start observers that cannot be stopped.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #delay = new EventLoopDelay();
  readonly #read: () => Omit<Snapshot, 'delays'>;
  readonly #hasEndpoint: (name: string) => boolean;
  readonly #calls: Counter<'endpoint' | 'status' | 'code'>;
  readonly #callSeconds: Histogram<'endpoint'>;
  readonly #posts: Counter<'status' | 'code'>;
  readonly #discarded: Counter<'signal'>;
  readonly #refusedTokens: Counter<'reason'>;
  readonly #quotaRefusals: Counter<'owner' | 'kind'>;
  /** The numbers of the running scrape. */
  #snapshot: Snapshot | undefined;

  constructor(options: {
    readonly version: string;
    /** Called once at each scrape. */
    readonly read: () => Omit<Snapshot, 'delays'>;
    /** Whether an endpoint has this name. A scrape removes the counters of others. */
    readonly hasEndpoint: (name: string) => boolean;
  }) {
    const registers = [this.#registry];
    this.#read = options.read;
    this.#hasEndpoint = options.hasEndpoint;
    new Gauge({
      name: 'weir_build_info',
      help: 'Always 1; the labels have the versions of weir and of Node',
      labelNames: ['version', 'node_version'],
      registers,
    }).set({ version: options.version, node_version: process.version }, 1);
    this.#calls = new Counter({
      name: 'weir_calls_total',
      help: 'Calls of endpoints; code is ok or the error’s, endpoint is empty if the call named none',
      labelNames: ['endpoint', 'status', 'code'],
      registers,
    });
    this.#callSeconds = new Histogram({
      name: 'weir_call_duration_seconds',
      help: 'Time from a call to the start of its answer',
      labelNames: ['endpoint'],
      buckets: CALL_SECONDS,
      registers,
    });
    this.#posts = new Counter({
      name: 'weir_posts_total',
      help: 'Posts of logs; code is ok or the error’s',
      labelNames: ['status', 'code'],
      registers,
    });
    this.#discarded = new Counter({
      name: 'weir_discarded_otlp_items_total',
      help: 'Spans and data points of OpenTelemetry, which are not stored',
      labelNames: ['signal'],
      registers,
    });
    for (const signal of OTHER_SIGNALS) this.#discarded.inc({ signal }, 0);
    this.#refusedTokens = new Counter({
      name: 'weir_tokens_refused_total',
      help: 'Requests refused for their token, by reason: missing, unknown or expired',
      labelNames: ['reason'],
      registers,
    });
    for (const reason of TOKEN_REFUSALS) this.#refusedTokens.inc({ reason }, 0);
    this.#quotaRefusals = new Counter({
      name: 'weir_quota_refusals_total',
      help: 'Posts refused because a quota was used up, by owner and kind of the quota',
      labelNames: ['owner', 'kind'],
      registers,
    });
    for (const owner of QUOTA_OWNERS) {
      for (const kind of QUOTA_KINDS) this.#quotaRefusals.inc({ owner, kind }, 0);
    }
    addStatsMetrics(this.#registry, () => must(this.#snapshot, 'a scrape is under way'));
  }

  /** `endpoint` is the name of a definition, or `undefined` when the call named none. */
  countCall(endpoint: string | undefined, { status, code, seconds }: Outcome): void {
    const name = endpoint ?? '';
    this.#calls.inc({ endpoint: name, status, code });
    this.#callSeconds.observe({ endpoint: name }, seconds);
  }

  countPost({ status, code }: Outcome): void {
    this.#posts.inc({ status, code });
  }

  /** Counts spans or data points that were not stored. */
  countDiscarded(signal: OtherSignal, count: number): void {
    this.#discarded.inc({ signal }, count);
  }

  countRefusedToken(reason: TokenRefusal): void {
    this.#refusedTokens.inc({ reason });
  }

  countQuotaRefusal(owner: QuotaOwner, kind: QuotaKind): void {
    this.#quotaRefusals.inc({ owner, kind });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics in Prometheus's text format. */
  async text(): Promise<string> {
    this.#snapshot = { ...this.#read(), delays: this.#delay.sample() };
    await this.#forget();
    return this.#registry.metrics();
  }

  /**
   * Removes the counters of removed definitions; each name would otherwise keep about twenty lines
   * for ever.
   */
  async #forget(): Promise<void> {
    for (const { labels } of (await this.#calls.get()).values) {
      const { endpoint } = labels;
      if (typeof endpoint !== 'string' || endpoint === '' || this.#hasEndpoint(endpoint)) continue;
      this.#calls.remove(labels);
      this.#callSeconds.remove({ endpoint });
    }
  }

  /** Stops measuring. */
  close(): void {
    this.#delay.stop();
  }
}
