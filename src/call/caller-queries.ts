import { serialize } from 'node:v8';
import { QueryError, SizedCache } from '../../engine/columns.ts';
import { type Pieces, type PreparedQuery, runPieces, type Within } from '../../engine/index.ts';
import type { ParameterDefinition } from '../definition/definition.ts';
import type { Endpoint } from '../definition/endpoint.ts';
import { toSqlType } from '../definition/parameter-value.ts';
import { fromQueryError, ServiceError } from '../errors.ts';
import { CALLER_QUERIES_BYTES_MAX, CALLER_QUERY_BYTES, CALLER_SQL_LENGTH_MAX } from '../limits.ts';
import type { QueryEngine } from './query-engine.ts';

/** What callers' texts may name: the tables of an endpoint, or those of a token. Other tables are another object. */
export type CallerTables = Pick<Endpoint, 'declared' | 'views'> & { readonly callerTables: Within };

/** The parameters that a text may name. */
export type SentDeclarations = readonly Pick<ParameterDefinition, 'name' | 'type'>[];

/**
 * Binds callers' own SQL texts over the tables that they may name. A page sends the same text
 * every few seconds, so bound texts are cached byte for byte.
 */
export class CallerQueries {
  readonly #engine: Pick<QueryEngine, 'prepareInPieces'>;
  readonly #known = new SizedCache<string, PreparedQuery>(CALLER_QUERIES_BYTES_MAX);
  readonly #numbers = new WeakMap<CallerTables, number>();
  #tablesCount = 0;

  constructor(engine: Pick<QueryEngine, 'prepareInPieces'>) {
    this.#engine = engine;
  }

  /**
   * Binds the text as a query over these tables and nothing else, with the parameters that they
   * declare.
   *
   * @throws ServiceError, with its place in the text, for a text that is too long, does not parse
   * or bind, or names other tables.
   */
  prepare(tables: CallerTables, sql: string): PreparedQuery {
    return runPieces(this.prepareInPieces(tables, sql));
  }

  /** Does the work of `prepare` in pieces; with `sent`, the parameters are these. */
  *prepareInPieces(
    tables: CallerTables,
    sql: string,
    sent?: SentDeclarations,
  ): Pieces<PreparedQuery> {
    if (sql.length > CALLER_SQL_LENGTH_MAX) {
      const message = `sql may have at most ${CALLER_SQL_LENGTH_MAX} characters; got ${sql.length}`;
      throw new ServiceError('query_limit', message, { parameter: 'sql' });
    }
    const sentText = sent?.map(({ name, type }) => `${name} ${type}`).join() ?? '';
    const key = `${this.#getNumber(tables)} ${sentText} ${sql}`;
    const known = this.#known.find(key);
    if (known !== undefined) return known;
    const query = yield* this.#bind(tables, sql, sent ?? tables.declared);
    yield;
    const size = CALLER_QUERY_BYTES + 2 * key.length + serialize(query).length;
    this.#known.set(key, query, size);
    return query;
  }

  *#bind(
    { callerTables, views }: CallerTables,
    sql: string,
    declared: SentDeclarations,
  ): Pieces<PreparedQuery> {
    const parameters = declared.map(({ name, type }) => ({ name, type: toSqlType(type) }));
    try {
      return yield* this.#engine.prepareInPieces(sql, parameters, callerTables, views);
    } catch (error) {
      throw error instanceof QueryError ? fromQueryError(error, sql) : error;
    }
  }

  #getNumber(tables: CallerTables): number {
    let number = this.#numbers.get(tables);
    if (number === undefined) {
      number = ++this.#tablesCount;
      this.#numbers.set(tables, number);
    }
    return number;
  }
}
