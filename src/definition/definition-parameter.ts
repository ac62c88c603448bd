import { echo, formatChoices } from '../echo.ts';
import { NAME_LENGTH_MAX } from '../limits.ts';
import { PARAMETER_TYPES, type ParameterDefinition, type ParameterType } from './definition.ts';
import type { Position, Refuse } from './definition-error.ts';
import { parseParameterText } from './parameter-value.ts';
import { TOKEN_PARAMETER } from './token-parameter.ts';

/** A word of a line, and where it begins. */
type Word = { readonly text: string; readonly at: Position };

type Options = { required: boolean; default?: Word; values?: Word; from?: Word };

export const PARAMETER_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const TOKEN_REASON = `a parameter must not be read from ${TOKEN_PARAMETER}, with which callers send their token`;

/** A word; quotes and parentheses may contain spaces. */
const WORD = /(?:"(?:[^"\\]|\\.)*"|\((?:"(?:[^"\\]|\\.)*"|[^()"])*\)|[^\s"()])+/y;

const LIST_ITEM = /\s*("(?:[^"\\]|\\.)*"|[^\s,"()]*)\s*(,|$)/y;

/**
 * Parses the value of a `param` line; `definition-file.ts` has the grammar.
 *
 * @throws what `refuse` throws, at the word that is wrong.
 */
export function parseParameterLine(
  text: string,
  start: Position,
  refuse: Refuse,
): ParameterDefinition {
  const [name, type, ...rest] = splitWords(text, start, refuse);
  if (name === undefined || type === undefined) {
    return refuse(start, `a parameter must have a name and a type; got ${echo(text)}`);
  }
  if (!PARAMETER_NAME.test(name.text) || name.text.length > NAME_LENGTH_MAX) {
    refuse(
      name.at,
      `the name of a parameter must be letters, digits and _, not beginning with a digit; got ${echo(name.text)}`,
    );
  }
  if (name.text === TOKEN_PARAMETER) refuse(name.at, TOKEN_REASON);
  if (!isParameterType(type.text)) {
    return refuse(
      type.at,
      `the type must be ${formatChoices(PARAMETER_TYPES)}; got ${echo(type.text)}`,
    );
  }
  const options = readOptions(rest, refuse);
  if (options.required && options.default !== undefined) {
    refuse(options.default.at, 'a required parameter has no default');
  }
  const parameter: ParameterDefinition = {
    name: name.text,
    type: type.text,
    required: options.required,
    default: options.default && unquote(options.default, refuse),
    values: options.values && splitList(options.values, refuse),
    from: options.from === undefined ? [] : splitList(options.from, refuse),
  };
  checkTexts(parameter, options, refuse);
  return parameter;
}

function splitWords(text: string, start: Position, refuse: Refuse): readonly Word[] {
  const words: Word[] = [];
  let offset = 0;
  while (offset < text.length) {
    if (/\s/.test(text.charAt(offset))) {
      offset += 1;
      continue;
    }
    const at = { line: start.line, column: start.column + offset };
    WORD.lastIndex = offset;
    const word = WORD.exec(text)?.[0];
    if (word === undefined) {
      return refuse(at, 'a quote or a parenthesis must be closed on its line; got one that is not');
    }
    words.push({ text: word, at });
    offset += word.length;
  }
  return words;
}

function readOptions(words: readonly Word[], refuse: Refuse): Options {
  const options: Options = { required: false };
  const seen = new Set<string>();
  for (const word of words) {
    const match = /^(required$|default=|from=|enum(?=\())(.*)$/s.exec(word.text);
    if (match === null) {
      return refuse(
        word.at,
        `a parameter's option must be required, default=…, enum(…) or from=…; got ${echo(word.text)}`,
      );
    }
    const [, key, value] = match as unknown as [string, string, string];
    if (seen.has(key)) refuse(word.at, `${key.replace('=', '')} is given twice`);
    seen.add(key);
    const at = { line: word.at.line, column: word.at.column + key.length };
    if (key === 'required') options.required = true;
    else if (key === 'default=') options.default = { text: value, at };
    else if (key === 'from=') options.from = { text: value, at };
    else options.values = { text: value.slice(1, -1), at: { ...at, column: at.column + 1 } };
  }
  return options;
}

function splitList(list: Word, refuse: Refuse): readonly string[] {
  const items: string[] = [];
  let offset = 0;
  for (let more = true; more; ) {
    const at = { line: list.at.line, column: list.at.column + offset };
    LIST_ITEM.lastIndex = offset;
    const match = LIST_ITEM.exec(list.text);
    if (match === null) return refuse(at, 'a list must be words with commas between them');
    const [, word = '', separator] = match;
    const item = unquote({ text: word, at }, refuse);
    if (word === '') refuse(at, 'a list must not have an empty item');
    if (items.includes(item)) refuse(at, `${echo(item)} occurs twice in its list`);
    items.push(item);
    offset = LIST_ITEM.lastIndex;
    more = separator === ',';
  }
  return items;
}

function unquote({ text, at }: Word, refuse: Refuse): string {
  if (!/["()]/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'string') return value;
  } catch {
    // Falls through: a word that is not a JSON string is refused below.
  }
  return refuse(at, `a quoted text must be written as in JSON; got ${echo(text)}`);
}

/** Checks that the default and the allowed values parse as the type, and that names are names. */
function checkTexts(parameter: ParameterDefinition, options: Options, refuse: Refuse): void {
  const { name, type, default: given, values, from } = parameter;
  for (const text of values ?? []) {
    if (parseParameterText(type, text) === undefined) {
      refuse(options.values!.at, `a value of ${name} must be ${type}; got ${echo(text)}`);
    }
  }
  for (const other of from) {
    if (other === TOKEN_PARAMETER) refuse(options.from!.at, TOKEN_REASON);
    if (!PARAMETER_NAME.test(other) || other === name) {
      refuse(options.from!.at, `from must list other parameter names; got ${echo(other)}`);
    }
  }
  if (given === undefined || given === '') return;
  if (parseParameterText(type, given) === undefined) {
    refuse(options.default!.at, `the default of ${name} must be ${type}; got ${echo(given)}`);
  }
  if (values !== undefined && !values.includes(given)) {
    refuse(
      options.default!.at,
      `the default of ${name} must be ${formatChoices(values)}; got ${echo(given)}`,
    );
  }
}

function isParameterType(text: string): text is ParameterType {
  return (PARAMETER_TYPES as readonly string[]).includes(text);
}
