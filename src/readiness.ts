import { ServiceError } from './errors.ts';

type State = 'starting' | 'ready' | 'draining';

/** Whether the service takes calls. It goes from starting to ready to draining, never back. */
export class Readiness {
  #state: State = 'starting';

  get state(): State {
    return this.#state;
  }

  /** Why calls are not taken; `undefined` when they are. */
  get reason(): string | undefined {
    if (this.#state === 'ready') return undefined;
    return this.#state === 'starting'
      ? 'the service is starting: it reads what it has stored'
      : 'the service is stopping';
  }

  becomeReady(): void {
    if (this.#state === 'starting') this.#state = 'ready';
  }

  beginDraining(): void {
    this.#state = 'draining';
  }

  /** @throws ServiceError when calls are not taken. */
  check(): void {
    if (this.reason === undefined) return;
    throw new ServiceError(this.#state === 'draining' ? 'draining' : 'not_ready', this.reason);
  }
}
