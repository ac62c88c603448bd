import { must } from '../../engine/assert.ts';
import type { QueryExplanation } from '../../engine/plan/explanation.ts';
import type { Reach } from '../../engine/plan/reach.ts';
import { CallerQueries } from '../../src/call/caller-queries.ts';
import { EndpointCaller } from '../../src/call/endpoint-call.ts';
import { ExploredTables } from '../../src/call/explored-tables.ts';
import type { QueryEngine } from '../../src/call/query-engine.ts';
import { type QueryCall, type RunCall, toRunCall } from '../../src/call/query-runner.ts';
import type { Catalogue } from '../../src/definition/catalogue.ts';
import { ServiceError } from '../../src/errors.ts';
import { DEFINITION_ROWS_MAX } from '../../src/limits.ts';
import type { TenantCall } from './tenant-calls.ts';
import { NOW_US } from './tenant-events.ts';

/** What came of a call, as far as a caller can see it. */
export type Outcome =
  | { readonly json: string }
  | { readonly code: string; readonly message: string };

/** Answers calls over an engine, as the service does. */
export class TenantDesk {
  readonly #catalogue: Catalogue;
  readonly #caller: EndpointCaller;
  readonly #queries: CallerQueries;

  /** With a `cacheBytesMax` of 0 each call runs. */
  constructor(engine: QueryEngine, catalogue: Catalogue, cacheBytesMax: number) {
    const clock = { nowUs: () => NOW_US, monotonicMs: () => 0, wallMs: () => Date.now() };
    this.#catalogue = catalogue;
    this.#caller = new EndpointCaller({ engine, clock, cacheBytesMax });
    this.#queries = new CallerQueries(engine);
  }

  async call(call: TenantCall, reach: Reach): Promise<Outcome> {
    return outcomeOf(async () => {
      const cancelled = new AbortController().signal;
      const asked = this.#queryCall(call, reach);
      const who = { cancelled: () => cancelled };
      const answer = await ('endpoint' in asked
        ? this.#caller.call(asked, who)
        : this.#caller.run(asked, who));
      if (answer.kind === 'shared') return answer.answer.identity.bytes.toString();
      const json = `{"result":${Buffer.from(answer.answer.json).toString()}}`;
      answer.answer.release();
      return json;
    });
  }

  async explain(call: TenantCall, reach: Reach): Promise<QueryExplanation | undefined> {
    let explanation: QueryExplanation | undefined;
    await outcomeOf(async () => {
      const asked = this.#queryCall(call, reach);
      const cancelled = new AbortController().signal;
      const run = 'endpoint' in asked ? toRunCall(asked) : asked;
      explanation = await this.#caller.explain(run, { cancelled: () => cancelled });
      return '';
    });
    return explanation;
  }

  /** Calls that were given a kept answer. */
  get hitCount(): number {
    return this.#caller.stats().cache.hitCount;
  }

  close(): Promise<void> {
    return this.#caller.close();
  }

  #queryCall(call: TenantCall, reach: Reach): QueryCall | RunCall {
    const { endpoint: name, parameters, sql, isExplored } = call;
    if (isExplored === true) {
      const grant = { id: '', name: '', scopes: ['explore'], endpoints: 'all', ...reach } as const;
      const tables = new ExploredTables(this.#catalogue).find(grant);
      const query = this.#queries.prepare(tables, must(sql));
      return { query, isSent: true, rowsMax: DEFINITION_ROWS_MAX, parameters: new Map(), reach };
    }
    const endpoint = must(this.#catalogue.find(name), `there is an endpoint ${name}`);
    const texts = new Map(Object.entries(parameters).map(([key, text]) => [key, [text]]));
    const callerQuery = sql === undefined ? undefined : this.#queries.prepare(endpoint, sql);
    return { endpoint, parameters: endpoint.parameters.parse(texts), reach, callerQuery };
  }
}

async function outcomeOf(run: () => Promise<string>): Promise<Outcome> {
  try {
    return { json: await run() };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { code: error.code, message: error.message };
  }
}
