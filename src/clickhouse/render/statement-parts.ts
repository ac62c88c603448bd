import { LONE_SURROGATE } from '../../../engine/function/text/regular-expression.ts';
import type { QueryErrorCode, Span } from '../../../engine/query-error.ts';
import { refuse } from './refusal.ts';

/** An error that the statement raises for a value that has no answer. */
export type Failure = {
  readonly code: QueryErrorCode;
  readonly message: string;
  readonly span: Span | undefined;
};

/** What ClickHouse's message holds where the statement raises a failure; its index follows. */
const FAILURE_MARK = 'weir failure ';

/** Names that need no brackets and cost nothing to be written twice. */
const SIMPLE = /^(?:\w+|\{\w+:String\}|toInt64\(-?\d+\))$/;

/**
 * What belongs to the whole statement: the texts that are bound to it, the failures that it can raise, and the names of
 * the variables of its lambda functions.
 */
export class StatementParts {
  readonly #texts = new Map<string, string>();
  readonly #failures: Failure[] = [];
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

  /** Computes `value` once, for a body that names it several times. The variable is bound by a lambda function. */
  once(value: string, body: (name: string) => string): string {
    if (SIMPLE.test(value)) return body(value);
    const name = this.variable();
    return `arrayMap(${name} -> ${body(name)}, [${value}])[1]`;
  }

  variable(): string {
    return `x${this.#variableCount++}`;
  }

  /** A condition that is 0, or raises the failure where `isBad` is true. */
  raise(isBad: string, failure: Failure): string {
    const mark = this.text(`${FAILURE_MARK}${this.#failures.length}`);
    this.#failures.push(failure);
    return `throwIf(ifNull(${isBad}, 0), ${mark})`;
  }

  /** The bound texts by the names of their parameters. */
  parameters(): Readonly<Record<string, string>> {
    return Object.fromEntries(Array.from(this.#texts, ([text, name]) => [name, text]));
  }

  failures(): readonly Failure[] {
    return this.#failures;
  }
}

/** Whether an expression can raise a failure. */
export function canRaise(sql: string): boolean {
  return sql.includes('throwIf(');
}

/** The failure that a message of ClickHouse is about; `undefined` where it is about something else. */
export function findFailure(message: string, failures: readonly Failure[]): Failure | undefined {
  const index = new RegExp(`${FAILURE_MARK}(\\d+)`).exec(message)?.[1];
  return index === undefined ? undefined : failures[Number(index)];
}
