import type { Source } from '../ingest/source.ts';
import { byteText } from './byte-text.ts';
import {
  type DefinitionProblem,
  problemText,
  servedText,
} from './definition/definition-problem.ts';
import { TOKEN_LENGTH_SAFE } from './limits.ts';
import type { Service } from './service.ts';
import type { Settings } from './settings.ts';

/** What a person who starts the service reads: where it is, what it has, and new tokens once. */
export function startMessage(options: {
  readonly version: string;
  readonly settings: Settings;
  readonly sources: readonly Source[];
  readonly service: Service;
  /** Names of settings that were given and are not read. */
  readonly unneeded?: readonly string[];
  readonly warnings?: readonly string[];
}): string {
  const { version, settings, sources, service, unneeded = [], warnings = [] } = options;
  const endpoints = service.catalogue.list().map(({ definition }) => definition.name);
  const lines = [
    `weir ${version} listens on ${service.url}`,
    '',
    `  data       ${settings.dataDir}, kept for ${settings.retentionDays} days`,
    `  memory     at most ${byteText(settings.memoryBytesMax)} (MEMORY_LIMIT)`,
    ...listed(
      'sources',
      sources.map(({ name }) => name),
    ),
    ...listed('endpoints', endpoints),
  ];
  if (settings.profile !== 'default') lines.push(`  profile    ${settings.profile}`);
  // One line, and only names: a password is among the values.
  if (unneeded.length > 0) lines.push(`  not needed ${unneeded.join(', ')}`);
  if (settings.frozenNowUs !== undefined) {
    const frozen = new Date(settings.frozenNowUs / 1000).toISOString();
    lines.push(`  clock      stands still at ${frozen} (FROZEN_NOW)`);
  }
  const warned = [...warnings, ...shortTokenWarnings(settings)];
  lines.push(...warned.map((warning) => `  warning    ${warning}`));
  lines.push(...problemLines(service.definitions.problems()));
  if (service.tokensMade.length > 0) {
    lines.push(
      '',
      '  New access tokens. They are shown this once; only their hashes are kept.',
      '',
    );
    for (const { name, token, scopes } of service.tokensMade) {
      lines.push(`  ${name.padEnd(10)} ${token}   (${scopes.join(', ')})`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Names the settings whose tokens can be guessed; never the tokens. */
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
          `${name} has fewer than ${TOKEN_LENGTH_SAFE} characters: it may be guessed. Use a longer, random one`,
        ],
  );
}

/** What is not in force, and why. */
function problemLines(problems: readonly DefinitionProblem[]): readonly string[] {
  if (problems.length === 0) return [];
  const texts = problems.map((problem) =>
    problemText({ ...problem, served: servedText(problem.isServed) }),
  );
  const indented = texts.map((text) => text.replaceAll(/^(?=.)/gm, '  '));
  return ['', '  Definitions that are not in force as their files say:', '', ...indented];
}

/** One name a line; the first beside the title. */
function listed(title: string, names: readonly string[]): readonly string[] {
  return names.map((name, index) => `  ${(index === 0 ? title : '').padEnd(10)} ${name}`);
}
