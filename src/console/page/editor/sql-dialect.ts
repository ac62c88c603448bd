import type { Completion, CompletionSource } from '@codemirror/autocomplete';
import { SQLDialect } from '@codemirror/lang-sql';

/** Names of the functions of the engine, in lower case. The build puts them in. */
declare const SQL_FUNCTIONS: readonly string[];

const KEYWORDS =
  'all and any array as asc between by case cast contains cross current date datetime day desc distinct else end escape except exclude exists extract false first following for format from full group grouping having hour if ignore in inner intersect interval into is join last lateral left like limit lookup minute month not null nulls offset on or order ordinal outer over partition pivot preceding qualify quarter range recursive respect right rollup row rows safe_cast second select separator set some struct then time timestamp true unbounded union unnest unpivot using week when where window with within year';

const TYPES =
  'array bool bytes date datetime float64 int64 interval json string struct time timestamp';

/** GoogleSQL as weir speaks it, for colours. */
export const WEIR_SQL = SQLDialect.define({
  keywords: KEYWORDS,
  types: TYPES,
  builtin: SQL_FUNCTIONS.join(' '),
  identifierQuotes: '`',
  doubleQuotedStrings: true,
  backslashEscapes: true,
  hashComments: true,
  spaceAfterDashes: false,
});

/** Names that an editor offers. */
export type SchemaNames = {
  /** Sources and saved queries. */
  readonly tables: readonly { readonly name: string; readonly kind: string }[];
  /** Columns of sources, and fields of their events. */
  readonly columns: readonly { readonly name: string; readonly kind: string }[];
  /** Parameters of the text, without `@`. */
  readonly parameters: readonly string[];
};

const FUNCTIONS: readonly Completion[] = SQL_FUNCTIONS.map((name) => ({
  ...{ label: name.toUpperCase(), apply: `${name.toUpperCase()}(`, type: 'function' },
}));

const WORDS: readonly Completion[] = [
  ...new Set([...KEYWORDS.split(' '), ...TYPES.split(' ')]),
].map((word) => ({ label: word.toUpperCase(), type: 'keyword', boost: -1 }));

/** Offers what is valid at the cursor: in backquotes tables alone, after `@` parameters, else all. */
export function sqlCompletion({ tables, columns, parameters }: SchemaNames): CompletionSource {
  const quoted = tables.map(({ name, kind }) => ({ label: name, detail: kind, type: 'type' }));
  const free: readonly Completion[] = [
    ...columns.map(({ name, kind }) => ({
      ...{ label: name, detail: kind, type: 'property', boost: 1 },
    })),
    ...tables.map(({ name, kind }) => ({
      ...{ label: name, apply: `\`${name}\``, detail: kind, type: 'type' },
    })),
    ...FUNCTIONS,
    ...WORDS,
  ];
  const named = parameters.map((name) => ({ label: `@${name}`, type: 'variable' }));
  return (context) => {
    const inQuotes = context.matchBefore(/`[^`\n]*/);
    if (inQuotes !== null && isOpenQuote(context.state.sliceDoc(0, context.pos))) {
      return { from: inQuotes.from + 1, options: quoted, validFor: /^[^`]*$/ };
    }
    const parameter = context.matchBefore(/@\w*/);
    if (parameter !== null) return { from: parameter.from, options: named, validFor: /^@\w*$/ };
    const word = context.matchBefore(/[\w.]+/);
    if (word === null && !context.explicit) return null;
    return { from: word?.from ?? context.pos, options: free, validFor: /^[\w.]*$/ };
  };
}

/** Whether the last backquote of a text opens a name. */
function isOpenQuote(text: string): boolean {
  return text.split('`').length % 2 === 0;
}
