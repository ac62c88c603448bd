/**
 * What docs/sql-functions.md says of a function: a sentence on what it returns, an expression, and the value of that,
 * both as SQL writes them. For an aggregate or a window function the expression has a FROM; the value of a
 * window function is the array of those of all rows. A test compares the page with the entries, and runs each
 * expression.
 */
export type FunctionDoc = readonly [sentence: string, expression: string, value: string];

/** For an alias of the function `name`, which has the doc given. */
export function sameAs(name: string, alias: string, doc: FunctionDoc): FunctionDoc {
  const [, expression, value] = doc;
  const [own, other] = [name.toUpperCase(), alias.toUpperCase()];
  return [`Same as \`${own}\`.`, expression.replace(`${own}(`, `${other}(`), value];
}
