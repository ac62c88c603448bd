import {
  formatFlag,
  listVariables,
  SETTINGS,
  type Setting,
  SUBJECTS,
  VARIABLES_READ,
  valueText,
} from '../../src/setting-table.ts';

const BEGIN = '<!-- Tables of settings, written from src/setting-table.ts. -->\n';
const END = '<!-- End of the tables. -->\n';

const HEADINGS = ['variable', 'flag', 'meaning', 'value', 'default'];

/**
 * Replaces the tables of settings in a page, each below its heading. The text around them stays.
 */
export function withTables(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const [, after] = rest?.split(END) ?? [];
  if (before === undefined || after === undefined) {
    throw new Error('the page must have the two comments between which its tables stand');
  }
  const tables = SUBJECTS.map((subject) => `### ${subject}\n\n${tableOf(subject)}\n`);
  return `${before}${BEGIN}\n${tables.join('\n')}\n${END}${after}`;
}

function tableOf(subject: Setting['subject']): string {
  const settings = SETTINGS.map(([, setting]) => setting);
  const rows = settings.filter((setting) => setting.subject === subject).map(cellsOf);
  return [HEADINGS, HEADINGS.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

function cellsOf(setting: Setting): readonly string[] {
  const { isSecret, summary } = setting;
  const names = listVariables(setting).map((variable) => `\`${variable}\``);
  const flag = isSecret === true ? 'none: it is a secret' : `\`--${formatFlag(setting)}\``;
  const meaning = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  const more = [setting.details, fileText(setting), containerText(setting)];
  return [
    names.join(', or '),
    flag,
    [meaning, ...more].filter((text) => text !== undefined).join(' '),
    valueText(setting),
    defaultCell(setting),
  ];
}

function fileText({ hasFile }: Setting): string | undefined {
  return hasFile === true
    ? 'With `_FILE` appended to its name, it is the path of a file that holds the value.'
    : undefined;
}

function containerText({ variable, containerName }: Setting): string | undefined {
  if (containerName === undefined) return undefined;
  return `With \`PROFILE=supabase\`, \`${containerName}\` is read where \`${variable}\` is not set.`;
}

/** A default that a user could write is formatted as code, as are variables in other defaults. */
function defaultCell(setting: Setting): string {
  const { kind, defaultText, defaultValue } = setting;
  const known = { machineBytes: 2 ** 33, memoryBytesMax: 2 ** 32 };
  const parsed = kind.parse(defaultText);
  if ('value' in parsed && parsed.value === defaultValue(known)) return `\`${defaultText}\``;
  return defaultText.replaceAll(/\b[A-Z][A-Z_]+\b/g, (word) =>
    VARIABLES_READ.includes(word) ? `\`${word}\`` : word,
  );
}
