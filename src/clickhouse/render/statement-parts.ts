import { LONE_SURROGATE, type QueryErrorCode, type Span } from '../../../engine/columns.ts';
import { refuse } from './refusal.ts';

/** An error that the statement raises for a value that has no answer. */
export type Failure = {
  readonly code: QueryErrorCode;
  readonly message: string;
  readonly span: Span | undefined;
  /** Raised only where the value is read, or of an event that ClickHouse cannot read at all. */
  readonly isExpected?: true;
};

/** ClickHouse reads statements of at most 262,144 bytes, and takes seconds to analyse one of half of them. */
const STATEMENT_LENGTH_MAX = 120_000;

/**
 * Of a statement whose shared SELECTs are written out wherever they are read, as ClickHouse analyses and runs it: the
 * analysis takes some ten seconds for so many characters, and is bound by no setting of the query. A SELECT that reads
 * another one twice, which reads a third one twice, and so on, would take hours.
 */
const ANALYSED_LENGTH_MAX = 500_000;

const SHARED_NAME = /\bw\d+\b/g;

/** What ClickHouse's message holds where the statement raises a failure; its index follows. */
const FAILURE_MARK = 'weir failure ';

/** Names that need no brackets and cost nothing to be written twice. */
const SIMPLE = /^(?:[a-z]\d+[a-z]?|\{\w+:String\}|toInt64\(-?\d+\))$/;

/**
 * What belongs to the whole statement: the texts that are bound to it, the failures that it can raise, and the names of
 * the variables of its lambda functions.
 */
export class StatementParts {
  readonly #texts = new Map<string, string>();
  readonly #failures: Failure[] = [];
  readonly #shared = new Map<string, string>();
  /** Conditions that hold where the part of the statement that is being rendered is wanted at all. */
  readonly #guards: (() => string)[] = [];
  #variableCount = 0;

  /** A text as a bound parameter of type String. The text itself never becomes a part of the statement. */
  text(text: string, span?: Span): string {
    if (LONE_SURROGATE.test(text)) refuse('a text with half a surrogate pair', span);
    let name = this.#texts.get(text);
    if (name === undefined) {
      name = `text${this.#texts.size}`;
      this.#texts.set(text, name);
    }
    return `{${name}:String}`;
  }

  /**
   * Computes `value` once, for a body that names it several times. The variable is bound by a lambda function. Out of
   * this ClickHouse takes what does not need the variable, and computes it for all rows; a failure that some condition
   * in the body guards must not be raised so, and needs the variable therefore.
   */
  once(value: string, body: (name: string) => string): string {
    if (SIMPLE.test(value)) return body(value);
    const name = this.variable();
    const text = needing(name, body(name));
    // Of a constant the body would be computed before there is a row, all branches of it.
    return `arrayMap(${name} -> ${text}, [materialize(${value})])[1]`;
  }

  variable(): string {
    return `x${this.#variableCount++}`;
  }

  /** A condition that is 0, or raises the failure where `isBad` is true. */
  raise(isBad: string, failure: Failure): string {
    const mark = this.text(`${FAILURE_MARK}${this.#failures.length}`);
    this.#failures.push(failure);
    const guards = this.#guards.map((guard) => ` AND ${guard()}`).join('');
    const condition = guards === '' ? isBad : `(${isBad})${guards}`;
    return `throwIf(ifNull(${condition}, 0), ${mark})`;
  }

  /** Renders a part of the statement that raises failures only where a condition holds. */
  guarded<Part>(guard: () => string, render: () => Part): Part {
    this.#guards.push(guard);
    const part = render();
    this.#guards.pop();
    return part;
  }

  /** The name of a SELECT that the statement reads at several places. ClickHouse runs it at each. */
  shared(select: string): string {
    let name = this.#shared.get(select);
    if (name === undefined) {
      name = `w${this.#shared.size}`;
      this.#shared.set(select, name);
    }
    return name;
  }

  /** Refuses a SELECT that is too long for a statement. */
  checkLength(select: string): void {
    if (select.length > STATEMENT_LENGTH_MAX) refuseLength(STATEMENT_LENGTH_MAX);
  }

  /** A SELECT with the shared ones before it, each of which may read those before it. */
  statement(select: string): string {
    const shared = Array.from(this.#shared, ([text, name]) => `${name} AS (${text})`);
    const statement = shared.length === 0 ? select : `WITH ${shared.join(', ')} ${select}`;
    this.checkLength(statement);
    if (this.#analysedLength(select) > ANALYSED_LENGTH_MAX) {
      refuseLength(ANALYSED_LENGTH_MAX, ' with its subqueries written out');
    }
    return statement;
  }

  #analysedLength(select: string): number {
    const lengths = new Map<string, number>();
    const lengthOf = (text: string): number => {
      const names = Array.from(text.matchAll(SHARED_NAME), ([name]) => name);
      return names.reduce((sum, name) => sum + (lengths.get(name) ?? 0), text.length);
    };
    for (const [text, name] of this.#shared) lengths.set(name, lengthOf(text));
    return lengthOf(select);
  }

  /** The bound texts by the names of their parameters. */
  parameters(): Readonly<Record<string, string>> {
    return Object.fromEntries(Array.from(this.#texts, ([text, name]) => [name, text]));
  }

  /** Renders a part of the statement. Refuses one that computes values which may have no answer. */
  withoutFailures<Part>(render: () => Part, refuseIt: () => never): Part {
    const start = this.#failures.length;
    const part = render();
    return this.#failures.slice(start).every(({ isExpected }) => isExpected) ? part : refuseIt();
  }

  failures(): readonly Failure[] {
    return this.#failures;
  }
}

function refuseLength(lengthMax: number, where = ''): never {
  const what = `a query that becomes a statement of more than ${lengthMax} characters${where}`;
  return refuse(what, undefined);
}

/** A SELECT within an expression: it does not know the variables of the lambda functions around it. */
export function withinExpression(select: string): string {
  return select.replaceAll('throwIf(', 'throwIf (');
}

/** Of an expression, failures that need a variable of the lambda function around it: they are raised within it alone. */
export function needing(name: string, sql: string): string {
  return sql.replaceAll('throwIf(', `throwIf(ignore(${name}) + `);
}

/** Whether an expression can raise a failure. */
export function canRaise(sql: string): boolean {
  return /throwIf ?\(/.test(sql);
}

/** The failure that a message of ClickHouse is about; `undefined` where it is about something else. */
export function findFailure(message: string, failures: readonly Failure[]): Failure | undefined {
  // Other messages hold the statement, and so all marks.
  const index = new RegExp(`DB::Exception: ${FAILURE_MARK}(\\d+)`).exec(message)?.[1];
  return index === undefined ? undefined : failures[Number(index)];
}
