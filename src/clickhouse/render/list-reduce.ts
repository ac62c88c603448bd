import { type Reduce, withConditions } from './aggregate-sql.ts';

/** Names of columns or variables that a function is given. */
const NAME = /\bx\d+\b/g;

/** Rows as lists of values. */
export type ValueLists = {
  /** The list of the values that a name stands for. */
  readonly listOf: (name: string) => string;
  /** Such a list, whichever. */
  readonly anyList: string;
};

/** Functions of ClickHouse over lists in place of columns. */
export function reduceLists({ listOf, anyList }: ValueLists): Reduce {
  const mapped = (input: string) => {
    const names = [...new Set(input.match(NAME) ?? [])];
    if (names.length === 0) return `arrayMap(any_ -> ${input}, ${anyList})`;
    return `arrayMap((${names.join(', ')}) -> ${input}, ${names.map(listOf).join(', ')})`;
  };
  return (name, inputs, condition) => {
    const all = condition === undefined ? inputs : [...inputs, condition];
    if (all.length === 0) return `toUInt64(length(${anyList}))`;
    const called = condition === undefined ? name : withConditions(name);
    return `arrayReduce('${called}', ${all.map(mapped).join(', ')})`;
  };
}
