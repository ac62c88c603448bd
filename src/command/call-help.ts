import type { CommandWords, CommandWorld } from './command.ts';
import { EndpointClient } from './endpoint-client.ts';
import { parameterLines } from './listed-parameter.ts';
import { mustKnow } from './named-call.ts';
import { createServiceClient } from './service-client.ts';

/**
 * Describes the parameters of the named definition, for the help of a command that calls it. Throws
 * as `mustKnow` does.
 */
export async function describeCall(
  words: CommandWords,
  world: CommandWorld,
): Promise<readonly string[]> {
  const [definition = ''] = words.positionals;
  const client = new EndpointClient(createServiceClient(words, world));
  const { name, parameters } = mustKnow({ definition }, await client.list());
  if (parameters.length === 0) return [`${name} has no parameters.`];
  return [[`Parameters of ${name}:`, ...parameterLines([{ name: '', parameters }])].join('\n')];
}
