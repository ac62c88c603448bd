import { readFileSync } from 'node:fs';
import { BUILT_IN_SOURCES, type Source, sourcesFrom } from '../ingest/source.ts';
import { systemReason } from '../ingest/system-reason.ts';
import { machineMemoryBytes } from './machine-memory.ts';
import { divideMemory } from './memory-shares.ts';
import {
  CONTAINER_KEY,
  formatFlag,
  listVariables,
  SETTING_TABLE,
  SETTINGS,
  type Setting,
  type SettingKey,
  type SettingTable,
} from './setting-table.ts';

/** Environment variables as `process.env` gives them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The values of all settings, by the keys of `SETTING_TABLE`. */
export type Settings = {
  readonly [Key in SettingKey]: ReturnType<SettingTable[Key]['defaultValue']>;
};

/** All problems of the settings, one sentence a line. */
export class SettingsError extends Error {
  readonly problems: readonly string[];
  /** Whether a flag is among the problems, so that the command line has to change. */
  readonly isOfFlag: boolean;

  constructor(problems: readonly string[], isOfFlag: boolean) {
    super(problems.join('\n'));
    this.name = 'SettingsError';
    this.problems = problems;
    this.isOfFlag = isOfFlag;
  }
}

/** The text given for a setting and the name it was given by: `PORT` or `--port`. */
type Given = { readonly name: string; readonly text: string; readonly isFlag: boolean };

type Problem = { readonly text: string; readonly isOfFlag: boolean };

/** The texts given so far by setting, and the problems so far. */
type Reading = { readonly given: Map<SettingKey, Given>; readonly problems: Problem[] };

/**
 * Parses the settings from flags and the environment. A flag overrides the environment; an empty
 * variable counts as absent. The keys of `flags` have no hyphens. `machineBytes` is the memory of
 * the machine.
 *
 * @throws SettingsError with all problems.
 */
export function parseSettings(
  environment: Environment,
  options: {
    readonly flags?: ReadonlyMap<string, string>;
    readonly machineBytes?: number;
  } = {},
): Settings {
  const { flags = NO_FLAGS, machineBytes = machineMemoryBytes() } = options;
  const reading: Reading = { given: new Map(), problems: [] };
  for (const [key, setting] of SETTINGS) {
    const given = findFlag(setting, flags) ?? findVariable(setting, environment, reading.problems);
    if (given !== undefined) reading.given.set(key, given);
  }
  if (reading.given.get('profile')?.text === 'supabase') addContainerSettings(environment, reading);
  const values: Record<string, unknown> = {};
  for (const [key, setting] of SETTINGS) {
    values[key] =
      parseGiven(setting, reading, key) ?? setting.defaultValue({ machineBytes, ...values });
  }
  // Each value was parsed by the setting's kind, or is its default.
  const settings = values as Settings;
  const all = reading.problems.length === 0 ? withDefaultSource(settings, reading) : settings;
  if (reading.problems.length === 0) checkTokens(all, reading);
  if (reading.problems.length === 0) checkKept(all, reading);
  checkStore(all, reading);
  throwProblems(reading.problems);
  return all;
}

const NO_FLAGS: ReadonlyMap<string, string> = new Map();

function throwProblems(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const isOfFlag = problems.some((each) => each.isOfFlag);
  throw new SettingsError(
    problems.map(({ text }) => text),
    isOfFlag,
  );
}

function findFlag(setting: Setting, flags: ReadonlyMap<string, string>): Given | undefined {
  const text = flags.get(formatFlag(setting));
  return text === undefined ? undefined : { name: `--${formatFlag(setting)}`, text, isFlag: true };
}

function findVariable(
  setting: Setting,
  environment: Environment,
  problems: Problem[],
): Given | undefined {
  const text =
    setting.hasFile === true
      ? findWithFiles(environment, listVariables(setting), problems)
      : findText(environment, setting.variable);
  return text === undefined ? undefined : { name: setting.variable, text, isFlag: false };
}

/** Returns `undefined` for a variable that is absent or empty. */
function findText(environment: Environment, variable: string): string | undefined {
  const text = environment[variable]?.trim();
  return text === '' ? undefined : text;
}

/**
 * Finds a value under any of these names, or in a file that one of them names with `_FILE`. All
 * that are given must agree.
 */
function findWithFiles(
  environment: Environment,
  variables: readonly string[],
  problems: Problem[],
): string | undefined {
  const found = new Map<string, string>();
  const tell = (text: string) => problems.push({ text, isOfFlag: false });
  for (const variable of variables) {
    const text = findText(environment, variable);
    if (text !== undefined) found.set(variable, text);
    const path = findText(environment, `${variable}_FILE`);
    if (path === undefined) continue;
    try {
      found.set(`${variable}_FILE`, readFileSync(path, 'utf8').trim());
    } catch (error) {
      const reason = systemReason(error);
      tell(`${variable}_FILE must name a readable file; ${path} cannot be read: ${reason}`);
    }
  }
  const [first, ...others] = new Set(found.values());
  if (others.length > 0) {
    const names = [...found.keys()].join(', ');
    tell(`${variables[0]} is given more than once, with different values: ${names}`);
  }
  const empty = [...found.keys()].find((variable) => found.get(variable) === '');
  if (empty !== undefined) tell(`${empty} names an empty file`);
  return first === '' ? undefined : first;
}

/** Adds settings that the analytics container reads under other names. */
function addContainerSettings(environment: Environment, { given, problems }: Reading): void {
  for (const [key, { containerName: name }] of SETTINGS) {
    const text = name === undefined ? undefined : findText(environment, name);
    if (name === undefined || text === undefined || given.has(key)) continue;
    given.set(key, { name, text, isFlag: false });
  }
  const text = findWithFiles(environment, [CONTAINER_KEY], problems);
  const tokens = ['privateAccessToken', 'publicAccessToken'] as const;
  const missing = tokens.find((key) => !given.has(key));
  if (text === undefined || missing === undefined) return;
  // If this is the other token under a second name, it grants nothing more.
  if (tokens.some((key) => given.get(key)?.text === text)) return;
  given.set(missing, { name: CONTAINER_KEY, text, isFlag: false });
}

/** Returns `undefined` if the setting is absent or invalid. */
function parseGiven(setting: Setting, { given, problems }: Reading, key: SettingKey): unknown {
  const found = given.get(key);
  if (found === undefined) return undefined;
  const { name, text, isFlag } = found;
  if (text === '') {
    problems.push({ text: `${name} must be ${setting.kind.allowed}; got ""`, isOfFlag: isFlag });
    return undefined;
  }
  const parsed = setting.kind.parse(text);
  if ('value' in parsed) return parsed.value;
  problems.push(
    ...parsed.problems.map((problem) => ({ text: `${name}${problem}`, isOfFlag: isFlag })),
  );
  return undefined;
}

/** Adds the default source to those of `SOURCES` unless it exists. */
function withDefaultSource(settings: Settings, { given, problems }: Reading): Settings {
  const { sources, defaultSource } = settings;
  const known: readonly Source[] = [...BUILT_IN_SOURCES, ...sources];
  if (known.some(({ name }) => name === defaultSource)) return settings;
  const added = sourcesFrom(defaultSource);
  const [problem] = added.errors;
  if (problem !== undefined) {
    const { name, isFlag } = namedGiven('defaultSource', given);
    problems.push({ text: `${name}: ${problem}`, isOfFlag: isFlag });
  }
  return { ...settings, sources: [...sources, ...added.sources] };
}

function checkTokens(settings: Settings, { problems }: Reading): void {
  const { publicAccessToken, privateAccessToken } = settings;
  if (publicAccessToken === undefined || publicAccessToken !== privateAccessToken) return;
  const text = 'PUBLIC_ACCESS_TOKEN must differ from PRIVATE_ACCESS_TOKEN; got the same';
  problems.push({ text, isOfFlag: false });
}

function checkStore({ store, clickhouseUrl }: Settings, { given, problems }: Reading): void {
  if (store !== 'clickhouse' || clickhouseUrl !== undefined || given.has('clickhouseUrl')) return;
  const { name, isFlag } = namedGiven('store', given);
  const text = `CLICKHOUSE_URL must be set with ${name}=clickhouse; got none`;
  problems.push({ text, isOfFlag: isFlag });
}

/** Checks that kept data leaves enough memory for everything else. */
function checkKept(settings: Settings, { given, problems }: Reading): void {
  const { memoryBytesMax, cacheBytesMax, memoBytesMax } = settings;
  const { spareBytes } = divideMemory(settings);
  if (spareBytes >= 0) return;
  const keptBytes = cacheBytesMax + memoBytesMax;
  const [cache, memo, memory] = (['cacheBytesMax', 'memoBytesMax', 'memoryBytesMax'] as const).map(
    (key) => namedGiven(key, given),
  );
  problems.push({
    text: `${cache!.name} and ${memo!.name} may be ${keptBytes + spareBytes} bytes together with a ${memory!.name} of ${memoryBytesMax} bytes; got ${keptBytes}`,
    isOfFlag: [cache, memo, memory].some((each) => each!.isFlag),
  });
}

/** The name by which a setting was given, or its variable. */
function namedGiven(
  key: SettingKey,
  given: ReadonlyMap<SettingKey, Given>,
): Pick<Given, 'name' | 'isFlag'> {
  return given.get(key) ?? { name: SETTING_TABLE[key].variable, isFlag: false };
}
