import type { Definition, ParameterDefinition } from './definition.ts';

/**
 * Formats the file of a definition. `parseDefinitionFile` reads the same definition from it, in
 * every profile. Defaults are left out.
 */
export function definitionText(definition: Definition): string {
  const { aliases, description, cacheS, warmS, isSandboxed, extended, version } = definition;
  return definitionFileText(
    [
      ['id', definition.id],
      ['name', definition.name],
      ['alias', aliases.length === 0 ? undefined : aliases.join(', ')],
      ['description', description === '' ? undefined : description],
      ['version', version === 1 ? undefined : String(version)],
      ['max_rows', String(definition.rowsMax)],
      ['cache', cacheS === undefined ? undefined : `${cacheS}s`],
      ['warm', warmS === undefined ? undefined : `${warmS}s`],
      ['sandbox', isSandboxed ? 'enabled' : undefined],
      ['extends', extended],
    ],
    definition.parameters,
    definition.text,
  );
}

/** Formats a file from keys, parameters and a statement. Keys without a value are left out. */
export function definitionFileText(
  header: readonly (readonly [key: string, value: string | undefined])[],
  parameters: readonly ParameterDefinition[],
  statement: string,
): string {
  const lines = [
    ...header.filter(([, value]) => value !== undefined).map(([key, value]) => `${key}: ${value}`),
    ...parameters.map((parameter) => `param: ${parameterText(parameter)}`),
  ];
  return `${lines.map((line) => `-- ${line}\n`).join('')}\n${statement}\n`;
}

/** Replaces the version of a file; its line stands first. */
export function withVersion(fileText: string, version: number): string {
  const lines = fileText.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('--'));
  const isKept = (line: string, index: number): boolean =>
    index >= end || !/^--[ \t]*version[ \t]*(?:\[[^\]]*\][ \t]*)?:/.test(line);
  const rest = lines.filter(isKept).join('\n');
  return version === 1 ? rest : `-- version: ${version}\n${rest}`;
}

/** Formats a parameter as the value of the header key `param` in a file. */
export function parameterText(parameter: ParameterDefinition): string {
  const { name, type, required, default: given, values, from } = parameter;
  const words = [name, type];
  if (required) words.push('required');
  if (given !== undefined) words.push(`default=${isPlain(given) ? given : quoted(given)}`);
  if (values !== undefined) words.push(`enum(${values.map(itemText).join(', ')})`);
  if (from.length > 0) words.push(`from=${from.join(',')}`);
  return words.join(' ');
}

/** Formats an item of a list, which may not be empty or contain a bare comma. */
function itemText(item: string): string {
  return item !== '' && isPlain(item) && !item.includes(',') ? item : quoted(item);
}

/**
 * Whether a text needs no quotes. A lone surrogate needs an escape, because UTF-8 cannot represent
 * it.
 */
function isPlain(text: string): boolean {
  return !/[\s"()\p{Surrogate}]/u.test(text);
}

/** Quotes a text as JSON does, with all line terminators escaped. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\u2028\u2029]/g,
    (end) => `\\u${end.charCodeAt(0).toString(16)}`,
  );
}
