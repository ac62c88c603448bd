import {
  formatFlag,
  listFileVariables,
  listVariables,
  SETTINGS,
  type Setting,
  SUBJECTS,
  valueText,
} from '../setting-table.ts';
import { listOwnFlags, type NamedCommand } from './command-line.ts';

const WIDTH_MAX = 100;

/** The last line of the help of the program and of each command. */
export const EXIT_STATUS = 'Exit status: 0 success, 1 failure or damaged data, 2 usage error.';

/**
 * The text of `weir NAME --help`, in lines of at most 100 characters. `summary` is its line in the
 * list of commands, `more` the part that depends on the other words of the command line.
 */
export function commandHelp(
  named: NamedCommand,
  { summary, more = [] }: { readonly summary: string; readonly more?: readonly string[] },
): string {
  const { name, command } = named;
  const usage = command.usage.map((line) => `  weir ${name} ${line}`.trimEnd());
  const parts = [
    `weir ${name} - ${summary}`,
    usage.join('\n'),
    command.about.trim(),
    ...more,
    flagLines(named),
    ...(command.takesSettings === true ? [SETTINGS_INTRODUCTION, ...settingParts()] : []),
    ...(command.notes ?? []).map((note) => wrapText(note, WIDTH_MAX).join('\n')),
    EXIT_STATUS,
  ];
  return `${parts.join('\n\n')}\n`;
}

/** The flags and their descriptions, in two columns. */
function flagLines({ command }: NamedCommand): string {
  const rows = Object.entries(listOwnFlags(command)).map(([flag, { placeholder, text }]) => ({
    title: placeholder === undefined ? `--${flag}` : `--${flag} ${placeholder}`,
    text,
  }));
  const width = Math.max(...rows.map(({ title }) => title.length)) + 4;
  return rows
    .map(({ title, text }) => {
      const [first, ...rest] = wrapText(text, WIDTH_MAX - width);
      const lines = [`  ${title}`.padEnd(width) + first];
      return [...lines, ...rest.map((line) => ' '.repeat(width) + line)].join('\n');
    })
    .join('\n');
}

const SETTINGS_INTRODUCTION =
  'Settings are flags or environment variables. A flag wins. An empty variable counts as not set.';

/** All settings by subject: the ways to give each, then its meaning. */
function settingParts(): readonly string[] {
  return SUBJECTS.map((subject) => {
    const settings = SETTINGS.map(([, setting]) => setting).filter(
      (setting) => setting.subject === subject,
    );
    return [`${subject}:`, ...settings.flatMap(settingLines)].join('\n');
  });
}

function settingLines(setting: Setting): readonly string[] {
  const { kind, summary, defaultText, isSecret } = setting;
  const flag = isSecret === true ? [] : [`--${formatFlag(setting)} ${kind.placeholder}`];
  const names = [...flag, ...listVariables(setting), ...listFileVariables(setting)].join(', ');
  const text = `${sentence(summary)} Value: ${valueText(setting)}. Default: ${defaultText}.`;
  return [
    ...wrapText(names, WIDTH_MAX - 2).map((line) => `  ${line}`),
    ...wrapText(text, WIDTH_MAX - 6).map((line) => `      ${line}`),
  ];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Wraps a text between words, at `width` characters. */
function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines;
}
