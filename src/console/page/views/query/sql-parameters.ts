import { PARAMETER_TYPES, type ParameterType, type QueryParameter } from '../../api/query.ts';

/** Strings, quoted names and comments, in which `@name` is no parameter. */
const NOT_SQL =
  /'''[\s\S]*?'''|"""[\s\S]*?"""|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`[^`\n]*`|--[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\//g;

/** The names of the parameters in a text, each once, in their order. */
export function findParameters(sql: string): readonly string[] {
  const rest = sql.replace(NOT_SQL, ' ');
  const names = Array.from(rest.matchAll(/@([A-Za-z_]\w*)/g), ([, name]) => name!);
  return [...new Set(names)];
}

/** What the fragment of the address says of parameters: `p.name=STRING:alpha`. */
export function readParameters(
  sql: string,
  fragment: Readonly<Record<string, string>>,
): readonly QueryParameter[] {
  return findParameters(sql).map((name) => {
    const text = fragment[parameterKey(name)] ?? '';
    const [, kind = '', value = text] = /^([A-Z0-9]+):([\s\S]*)$/.exec(text) ?? [];
    const type: ParameterType = PARAMETER_TYPES.find((one) => one === kind) ?? 'STRING';
    return { name, type, value };
  });
}

export function parameterKey(name: string): string {
  return `p.${name}`;
}

export function formatParameter({ type, value }: QueryParameter): string {
  return `${type}:${value}`;
}
