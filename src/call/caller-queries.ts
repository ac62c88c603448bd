import { serialize } from 'node:v8';
import { type Pieces, runPieces } from '../../engine/plan/pieces.ts';
import type { PreparedQuery } from '../../engine/plan/prepared-query.ts';
import { SizedMemory } from '../../engine/plan/sized-memory.ts';
import { QueryError } from '../../engine/query-error.ts';
import type { Endpoint } from '../definition/endpoint.ts';
import { toSqlType } from '../definition/parameter-value.ts';
import { fromQueryError, ServiceError } from '../errors.ts';
import { CALLER_QUERIES_BYTES_MAX, CALLER_QUERY_BYTES, CALLER_SQL_LENGTH_MAX } from '../limits.ts';
import type { QueryEngine } from './query-engine.ts';

/**
 * Binds callers' own SQL texts over the tables that a definition offers. A page sends the same text
 * every few seconds, so bound texts are cached byte for byte.
 */
export class CallerQueries {
  readonly #engine: Pick<QueryEngine, 'prepareInPieces'>;
  readonly #known = new SizedMemory<string, PreparedQuery>(CALLER_QUERIES_BYTES_MAX);
  readonly #numbers = new WeakMap<Endpoint, number>();
  #endpointCount = 0;

  constructor(engine: Pick<QueryEngine, 'prepareInPieces'>) {
    this.#engine = engine;
  }

  /**
   * Binds the text as a query over the tables of the endpoint and nothing else.
   *
   * @throws ServiceError, with its place in the text, for a text that is too long, does not parse
   * or bind, or names other tables.
   */
  prepare(endpoint: Endpoint, sql: string): PreparedQuery {
    return runPieces(this.prepareInPieces(endpoint, sql));
  }

  /** Does the work of `prepare` in pieces. */
  *prepareInPieces(endpoint: Endpoint, sql: string): Pieces<PreparedQuery> {
    if (sql.length > CALLER_SQL_LENGTH_MAX) {
      const message = `sql may have at most ${CALLER_SQL_LENGTH_MAX} characters; got ${sql.length}`;
      throw new ServiceError('query_limit', message, { parameter: 'sql' });
    }
    const key = `${this.#getNumber(endpoint)} ${sql}`;
    const known = this.#known.find(key);
    if (known !== undefined) return known;
    const query = yield* this.#bind(endpoint, sql);
    yield;
    const size = CALLER_QUERY_BYTES + 2 * key.length + serialize(query).length;
    this.#known.set(key, query, size);
    return query;
  }

  *#bind({ declared, callerTables, views }: Endpoint, sql: string): Pieces<PreparedQuery> {
    const parameters = declared.map(({ name, type }) => ({ name, type: toSqlType(type) }));
    try {
      return yield* this.#engine.prepareInPieces(sql, parameters, callerTables, views);
    } catch (error) {
      throw error instanceof QueryError ? fromQueryError(error, sql) : error;
    }
  }

  /**
   * Returns a number for the endpoint. A changed definition is another endpoint with other tables.
   */
  #getNumber(endpoint: Endpoint): number {
    let number = this.#numbers.get(endpoint);
    if (number === undefined) {
      number = ++this.#endpointCount;
      this.#numbers.set(endpoint, number);
    }
    return number;
  }
}
