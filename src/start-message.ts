import type { Source } from '../ingest/source.ts';
import { formatVariable } from './access/first-tokens.ts';
import { byteText } from './byte-text.ts';
import { formatUrl } from './command/service-client.ts';
import { formatConsoleLink } from './console/console-link.ts';
import {
  type DefinitionProblem,
  problemText,
  servedText,
} from './definition/definition-problem.ts';
import { TOKEN_LENGTH_SAFE } from './limits.ts';
import type { LogEntry } from './log.ts';
import type { Service } from './service.ts';
import type { Settings } from './settings.ts';

/** What the start message reports once the service listens. */
export type Started = {
  readonly version: string;
  readonly settings: Settings;
  readonly sources: readonly Source[];
  readonly service: Service;
  /** Names of settings that were given and are ignored. */
  readonly unneeded?: readonly string[];
  readonly warnings?: readonly string[];
};

/**
 * The message for a person at a terminal: the service's URL, its definitions, and new tokens, which
 * are shown once.
 */
export function startMessage(started: Started): string {
  const { version, settings, sources, service, unneeded = [] } = started;
  const lines = [
    `weir ${version} listens on ${service.url}`,
    '',
    ...listed('otlp/grpc', service.otlpGrpc === undefined ? [] : [service.otlpGrpc]),
    `  data       ${settings.dataDir}, kept for ${settings.retentionDays} days`,
    `  memory     at most ${byteText(settings.memoryBytesMax)} (MEMORY_LIMIT)`,
    ...listed(
      'sources',
      sources.map(({ name }) => name),
    ),
    ...listed('endpoints', endpointNames(service)),
  ];
  if (settings.profile !== 'default') lines.push(`  profile    ${settings.profile}`);
  // Names only, because the values include a password.
  if (unneeded.length > 0) lines.push(`  ignored    ${unneeded.join(', ')}`);
  const frozen = frozenNow(settings);
  if (frozen !== undefined) lines.push(`  clock      fixed at ${frozen} (FROZEN_NOW)`);
  lines.push(...listWarnings(started).map((warning) => `  warning    ${warning}`));
  lines.push(...problemLines(service.definitions.problems()));
  if (service.tokensMade.length > 0) lines.push('', ...tokenLines(service, settings));
  return `${lines.join('\n')}\n`;
}

/**
 * The start message as log entries, without definitions that are not in force, which are logged
 * already.
 */
export function startEntries(started: Started): readonly LogEntry[] {
  const { version, settings, sources, service, unneeded = [] } = started;
  return [
    {
      level: 'info',
      event: 'listening',
      version,
      url: service.url,
      otlp_grpc: service.otlpGrpc,
      data_dir: settings.dataDir,
      retention_days: settings.retentionDays,
      memory_bytes_max: settings.memoryBytesMax,
      sources: sources.map(({ name }) => name),
      endpoints: endpointNames(service),
      profile: settings.profile,
      not_needed: unneeded.length > 0 ? unneeded : undefined,
      frozen_now: frozenNow(settings),
    },
    ...listWarnings(started).map(
      (warning): LogEntry => ({ level: 'warning', event: 'setting_warning', warning }),
    ),
    ...service.tokensMade.map(
      ({ name, scopes, token }): LogEntry => ({
        level: 'info',
        event: 'token_made',
        name,
        scopes,
        variable: formatVariable(name),
        token,
      }),
    ),
  ];
}

function endpointNames({ catalogue }: Service): readonly string[] {
  return catalogue.list().map(({ definition }) => definition.name);
}

function frozenNow({ frozenNowUs }: Settings): string | undefined {
  return frozenNowUs === undefined ? undefined : new Date(frozenNowUs / 1000).toISOString();
}

function listWarnings({ warnings = [], settings }: Started): readonly string[] {
  return [...warnings, ...shortTokenWarnings(settings)];
}

/** Names the settings whose tokens can be guessed, without the tokens. */
function shortTokenWarnings({
  publicAccessToken,
  privateAccessToken,
}: Settings): readonly string[] {
  const given = {
    PUBLIC_ACCESS_TOKEN: publicAccessToken,
    PRIVATE_ACCESS_TOKEN: privateAccessToken,
  };
  return Object.entries(given).flatMap(([name, token]) =>
    token === undefined || token.length >= TOKEN_LENGTH_SAFE
      ? []
      : [
          `${name} has fewer than ${TOKEN_LENGTH_SAFE} characters and could be guessed. Use a longer, random one, for example from openssl rand -hex 32`,
        ],
  );
}

/** The definitions that are not in force, with their problems. */
function problemLines(problems: readonly DefinitionProblem[]): readonly string[] {
  if (problems.length === 0) return [];
  const texts = problems.map((problem) =>
    problemText({ ...problem, served: servedText(problem.isServed) }),
  );
  const indented = texts.map((text) => text.replaceAll(/^(?=.)/gm, '  '));
  return ['', '  Definition files that are not in force:', '', ...indented];
}

/** New tokens as shell commands, the first call to make with them, and the link to the console. */
function tokenLines({ tokensMade, url }: Service, { host }: Settings): readonly string[] {
  const names = tokensMade.map(({ name }) => name);
  const sender = formatVariable(names.includes('public') ? 'public' : 'private');
  const localUrl = formatUrl({ host, port: Number(/\d+$/.exec(url)?.[0]) });
  const managing = tokensMade.find(({ name }) => name === 'private');
  return [
    '  New access tokens. They are shown only this once, because only their hashes are kept. Paste them into your shell:',
    '',
    ...tokensMade.map(({ name, token }) => `export ${formatVariable(name)}=${token}`),
    '',
    '  Then send an event:',
    '',
    `curl -X POST '${localUrl}/api/logs?source_name=cloudflare.logs.prod' \\`,
    `  -H "X-API-KEY: $${sender}" -H 'Content-Type: application/json' \\`,
    `  -d '[{"event_message": "GET | 200 | /rest/v1/orders", "project": "alpha"}]'`,
    ...(managing === undefined
      ? []
      : [
          '',
          '  And look at it in a browser. The link contains the private token:',
          '',
          formatConsoleLink(localUrl, managing.token),
        ]),
  ];
}

/** Lists one name a line, the first beside the title. */
function listed(title: string, names: readonly string[]): readonly string[] {
  return names.map((name, index) => `  ${(index === 0 ? title : '').padEnd(10)} ${name}`);
}
