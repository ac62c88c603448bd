import type { Definition, ParameterDefinition } from './definition.ts';

/**
 * The file of a definition, as `parseDefinitionFile` reads it: the same definition comes back, in
 * every profile. What has its default has no line.
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

/** A file of these keys, without those that have no value, of these parameters and this statement. */
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

/** The same file with another version, whose line stands first. */
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

/** In a list no place may be empty, and commas stand between. */
function itemText(item: string): string {
  return item !== '' && isPlain(item) && !item.includes(',') ? item : quoted(item);
}

/** Whether a text means itself without quotes. Half of a pair of UTF-16 has no bytes, but an escape. */
function isPlain(text: string): boolean {
  return !/[\s"()\p{Surrogate}]/u.test(text);
}

/** As in JSON, and on one line whatever counts as the end of one. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\u2028\u2029]/g,
    (end) => `\\u${end.charCodeAt(0).toString(16)}`,
  );
}
