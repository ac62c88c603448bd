import { type DeferredAnswer, isFailure, valueInAnswer } from '../../aggregate/deferred.ts';
import type { VectorFunction } from '../../column/chunk.ts';
import type { SqlType } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import { valueAt } from '../../column/vector.ts';
import { vectorOfValues } from '../../operator/result-vector.ts';
import { QueryError, type Span } from '../../query-error.ts';

/** What a deferred call came to in each row; raises the error of the first that has one. */
export function deferredValue(
  input: VectorFunction,
  { type, span }: { readonly type: SqlType; readonly span?: Span | undefined },
): VectorFunction {
  return (chunk) => {
    const answers = input(chunk);
    const values = new Array<SqlValue>(chunk.count);
    for (let row = 0; row < chunk.count; row++) {
      // By contract, the column of a deferred call.
      const answer = valueAt(answers, row) as DeferredAnswer;
      if (isFailure(answer)) throw new QueryError(answer[1], answer[2], span);
      values[row] = valueInAnswer(answer);
    }
    return vectorOfValues(values, type);
  };
}
