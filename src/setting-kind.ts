import { type Source, sourcesFrom } from '../ingest/source.ts';
import { parseIsoTimestampUs } from './definition/iso-timestamp.ts';
import { echo, formatChoices } from './echo.ts';

/** The texts that a setting accepts, and the values they mean. */
export type SettingKind<T> = {
  /** The placeholder of the value in the help: `N`. */
  readonly placeholder: string;
  /** The accepted values in words, for errors and documents: `a whole number from 1 to 256`. */
  readonly allowed: string;
  readonly parse: (text: string) => ParsedSetting<T>;
};

/**
 * A value, or the problems of the text. Each problem ends a sentence that begins with the setting's
 * name.
 */
type ParsedSetting<T> = { readonly value: T } | { readonly problems: readonly string[] };

const UNIT_BYTES: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['B', 1],
  ['KB', 1e3],
  ['MB', 1e6],
  ['GB', 1e9],
  ['TB', 1e12],
  ['KIB', 2 ** 10],
  ['MIB', 2 ** 20],
  ['GIB', 2 ** 30],
  ['TIB', 2 ** 40],
]);

/** Accepts any text: the name of a host, a folder or a source. */
export function textKind(placeholder: string, allowed: string): SettingKind<string> {
  return { placeholder, allowed, parse: (value) => ({ value }) };
}

export function integerKind(min: number, max: number): SettingKind<number> {
  return createKind('N', `a whole number from ${min} to ${max}`, (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  });
}

export function countKind(): SettingKind<number> {
  return createKind('N', 'a whole number from 1', (text) => {
    const count = /^\d{1,15}$/.test(text) ? Number(text) : 0;
    return count >= 1 ? count : undefined;
  });
}

/** `least` is `bytesMin` in words. */
export function bytesKind(bytesMin: number, least: string): SettingKind<number> {
  return createKind('SIZE', `a number of bytes such as 512MB or 1GiB, ${least}`, (text) => {
    const bytes = parseBytes(text);
    return bytes !== undefined && bytes >= bytesMin ? bytes : undefined;
  });
}

export function choiceKind<Name extends string>(names: readonly Name[]): SettingKind<Name> {
  return createKind('NAME', formatChoices(names), (text) => names.find((name) => name === text));
}

/** Accepts a time; its value is in microseconds since the epoch. */
export function timeKind(): SettingKind<number> {
  return createKind('TIME', 'an ISO 8601 time such as 2026-01-15T12:00:00Z', (text) => {
    const us = parseIsoTimestampUs(text);
    return typeof us === 'number' && us >= 0 ? us : undefined;
  });
}

/** Accepts what fits in a header: visible ASCII. The error does not show the token. */
export function tokenKind(): SettingKind<string> {
  const allowed = '1 to 1024 visible ASCII characters without spaces';
  return {
    placeholder: 'TOKEN',
    allowed,
    parse: (value) =>
      /^[\x21-\x7e]{1,1024}$/.test(value) ? { value } : { problems: [` must be ${allowed}`] },
  };
}

/** Accepts any text. The error would not show it. */
export function passwordKind(): SettingKind<string> {
  return { placeholder: 'PASSWORD', allowed: 'a text', parse: (value) => ({ value }) };
}

/** Accepts the address of a server, without user, password, path and query. */
export function serverKind(): SettingKind<string> {
  const allowed = 'the http or https URL of a server, without user, path and query';
  return createKind('URL', allowed, (text) => {
    if (!URL.canParse(text)) return undefined;
    const { protocol, username, password, pathname, search, hash, origin } = new URL(text);
    const isHttp = protocol === 'http:' || protocol === 'https:';
    const isOrigin = [username, password, search, hash].every((part) => part === '');
    return isHttp && isOrigin && pathname === '/' ? origin : undefined;
  });
}

/** Accepts names that need no quotes in SQL. */
export function identifierKind(): SettingKind<string> {
  const allowed = 'a name of letters, digits and _ that begins with no digit';
  return createKind('NAME', allowed, (text) =>
    /^[A-Za-z_]\w{0,99}$/.test(text) ? text : undefined,
  );
}

export function sourcesKind(): SettingKind<readonly Source[]> {
  return {
    placeholder: 'LIST',
    allowed: 'names with commas between them, each NAME or NAME:metadata.PATH',
    parse: (text) => {
      const { sources, errors } = sourcesFrom(text);
      if (errors.length > 0) return { problems: errors.map((error) => `: ${error}`) };
      return { value: sources };
    },
  };
}

/** Makes a kind from a `parse` that returns `undefined` for an invalid text. */
function createKind<T>(
  placeholder: string,
  allowed: string,
  parse: (text: string) => T | undefined,
): SettingKind<T> {
  return {
    placeholder,
    allowed,
    parse: (text) => {
      const value = parse(text);
      if (value !== undefined) return { value };
      return { problems: [` must be ${allowed}; got ${echo(text)}`] };
    },
  };
}

/** Returns `undefined` for a text that is not a number of bytes. */
export function parseBytes(text: string): number | undefined {
  const match = /^(\d{1,15}(?:\.\d{1,3})?)\s*([a-z]*)$/i.exec(text);
  const unitBytes = UNIT_BYTES.get((match?.[2] ?? '').toUpperCase());
  if (match === null || unitBytes === undefined) return undefined;
  const bytes = Math.floor(Number(match[1]) * unitBytes);
  return bytes <= Number.MAX_SAFE_INTEGER ? bytes : undefined;
}
