import { Draw, type DrawOptions } from './draw.ts';
import type { EventMaker } from './event-maker.ts';

const METHODS = ['token', 'password', 'oauth', 'otp', 'magic_link', 'anonymous', 'saml', 'passkey'];
const ACTIONS = ['token_refreshed', 'login', 'logout', 'user_signedup'];

/** Some of whom are seen often. */
const USER_COUNT = 50_000;

/** Of sign-ins, those that are refused. */
const REFUSED_SHARE = 0.07;

/** Users who sign in and stay signed in, as the service for it logs them: some 420 bytes. */
export class AuthEvents implements EventMaker {
  readonly #draw: Draw;
  readonly #users: readonly string[];

  constructor(of: DrawOptions) {
    this.#draw = new Draw(5, of);
    this.#users = Array.from({ length: USER_COUNT }, () => this.#draw.uuid());
  }

  next(): string {
    const draw = this.#draw;
    const { random } = draw;
    const {
      project: { ref },
      id,
      timestamp,
    } = draw.event();
    const method = draw.skewed(METHODS);
    const status = random.next() < REFUSED_SHARE ? random.pick([400, 401, 422, 429, 500]) : 200;
    return `{"id":"${id}","timestamp":${timestamp},"event_message":"request completed","project":"${ref}","metadata":{"component":"api","level":"${status === 200 ? 'info' : 'warning'}","method":"POST","path":"/${method}","login_method":"${method}","action":"${draw.skewed(ACTIONS)}","actor_id":"${draw.skewed(this.#users)}","duration":${random.durationMs(30_000)},"request_id":"${draw.uuid()}","status":${status}}}`;
  }
}
