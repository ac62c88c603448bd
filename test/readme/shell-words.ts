/** What a shell knows when it reads a command. */
export type ShellWorld = {
  readonly variables: Readonly<Record<string, string>>;
  /** What `date` tells. */
  readonly now: Date;
};

/**
 * The words of a command as a POSIX shell reads them, as far as examples need that: quotes, a backslash
 * before the end of a line, variables, of which there must be a value, and `$(date …)`. Anything else is refused.
 */
export function shellWords(text: string, world: ShellWorld): string[] {
  const words: string[] = [];
  const part =
    /'([^']*)'|"([^"\\`]*)"|([^\s'"\\`$|&;<>()*?]+)|(\$\w+|\$\([^()'"\\`$]*\))|\\\n|(\s+)/y;
  let word: string | undefined;
  while (part.lastIndex < text.length) {
    const at = part.lastIndex;
    const found = part.exec(text);
    if (found === null) throw new Error(`no word at ${at} of ${text}`);
    const [whole, single, double, bare, expansion, space] = found;
    if (space !== undefined || whole === '\\\n') {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    const value = single ?? bare ?? expanded(expansion ?? double!, world);
    // What has a space in it would be several words without quotes.
    if (expansion !== undefined && /\s/.test(value))
      throw new Error(`${expansion} must be in quotes`);
    word = (word ?? '') + value;
  }
  if (word !== undefined) words.push(word);
  return words;
}

/** A text with the values of the variables and commands in it. */
function expanded(text: string, { variables, now }: ShellWorld): string {
  return text.replaceAll(/\$(?:(\w+)|\(([^()]*)\)|)/g, (whole, name?: string, command?: string) => {
    if (command !== undefined) return dateText(command, now);
    const value = name === undefined ? undefined : variables[name];
    if (value === undefined) throw new Error(`${whole} has no value in ${text}`);
    return value;
  });
}

/**
 * What `date` writes, of options and conversions that GNU's and BSD's have in common (`%N` and `-d` are GNU's alone,
 * `-v` is BSD's). Only seconds since the epoch are the same in every zone: all else must be asked for with `-u`.
 */
function dateText(command: string, now: Date): string {
  const [, isUtc, format] = /^date( -u)? \+(\S+)$/.exec(command) ?? [];
  if (format === undefined) throw new Error(`date +FORMAT is known here, with -u; got ${command}`);
  const [year, month, day, hour, minute, second] = now.toISOString().split(/\D/);
  const calendar = new Map(
    Object.entries({ Y: year, m: month, d: day, H: hour, M: minute, S: second }),
  );
  return format.replaceAll(/%(.?)/g, (whole, letter: string) => {
    if (letter === 's') return String(Math.trunc(now.getTime() / 1000));
    const value = isUtc === undefined ? undefined : calendar.get(letter);
    if (value === undefined) throw new Error(`${whole} is not known here in ${command}`);
    return value;
  });
}
