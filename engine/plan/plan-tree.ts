/** A plan as it is shown: an operator in words, above the operators it has its rows from. */
export type PlanTree = {
  /** The operator on one line. */
  readonly line: string;
  /** The same on several, for when the line is too long: what it is, then one part each. */
  readonly parts: readonly string[];
  /** What is told below it in any case, each a name and its value. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly inputs: readonly PlanTree[];
};

export type TreeStyle = {
  /** Characters of a line, its indent included, from which an operator is broken into its parts. */
  readonly widthMax: number;
  /** What stands left of an operator's first line, by its place in the tree read downwards, from 0. */
  readonly margin?: (index: number) => string;
};

/** Inputs stand below their operator, two spaces further in; parts and facts four. */
export function treeLines(tree: PlanTree, style: TreeStyle): readonly string[] {
  const lines: string[] = [];
  let index = 0;
  const write = (node: PlanTree, indent: string): void => {
    const margin = style.margin?.(index++) ?? '';
    const isLong = indent.length + node.line.length > style.widthMax && node.parts.length > 1;
    const [first, ...rest] = isLong ? node.parts : [node.line];
    lines.push(`${margin}${indent}${first}`);
    const inner = `${' '.repeat(margin.length)}${indent}    `;
    lines.push(...rest.map((part) => `${inner}${part}`));
    const nameWidth = Math.max(...node.facts.map(([name]) => name.length)) + 2;
    lines.push(...node.facts.map(([name, value]) => `${inner}${name.padEnd(nameWidth)}${value}`));
    for (const input of node.inputs) write(input, `${indent}  `);
  };
  write(tree, '');
  return lines;
}
