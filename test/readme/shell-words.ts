/**
 * The words of a command as a POSIX shell reads them, as far as examples need that: quotes, a backslash
 * before the end of a line, and variables, of which there must be a value. Anything else is refused.
 */
export function shellWords(text: string, variables: Readonly<Record<string, string>>): string[] {
  const words: string[] = [];
  const part = /'([^']*)'|"([^"\\`]*)"|([^\s'"\\`$|&;<>()*?]+)|\$(\w+)|\\\n|(\s+)/y;
  let word: string | undefined;
  const variable = (name: string): string => {
    const value = variables[name];
    if (value === undefined) throw new Error(`$${name} has no value in ${text}`);
    return value;
  };
  while (part.lastIndex < text.length) {
    const at = part.lastIndex;
    const found = part.exec(text);
    if (found === null) throw new Error(`no word at ${at} of ${text}`);
    const [whole, single, double, bare, name, space] = found;
    if (space !== undefined || whole === '\\\n') {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    const value =
      name === undefined
        ? (single ?? bare ?? double!.replace(/\$(\w+)/g, (_all, each: string) => variable(each)))
        : variable(name);
    word = (word ?? '') + value;
  }
  if (word !== undefined) words.push(word);
  return words;
}
