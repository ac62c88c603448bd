import { mayUseSource } from '../access/grant.ts';
import type { LogIntake } from '../store/log-intake.ts';
import { sendJson } from './response.ts';
import type { GuardedOperation } from './route.ts';
import type { SourceListForm } from './source-list.ts';

type Handle = GuardedOperation['handle'];

/**
 * The names and ids of all sources that a token is for: whoever may post must know where to. A token
 * that may manage also sees how much each holds.
 */
export function sourceListHandler(intake: LogIntake, { bodyOf }: SourceListForm): Handle {
  return (_request, response, { grant }) => {
    const sizes = grant.scopes.includes('manage') ? intake.sizes() : undefined;
    const visible = intake.listSources().filter((source) => mayUseSource(grant, source));
    const sources = visible.map(({ id, name }) => ({ id, name, ...sizes?.get(name) }));
    sendJson(response, 200, bodyOf(sources));
  };
}
