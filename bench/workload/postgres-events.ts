import { Draw, type DrawOptions } from './draw.ts';
import type { EventMaker } from './event-maker.ts';

/** What databases say, the most usual first. */
const SAYINGS = [
  { severity: 'LOG', state: '00000', message: 'connection authorized: user=authenticator' },
  { severity: 'LOG', state: '00000', message: 'disconnection: session time: 0:00:12.345' },
  { severity: 'LOG', state: '00000', message: 'checkpoint complete: wrote 412 buffers' },
  { severity: 'ERROR', state: '23505', message: 'duplicate key value violates unique constraint' },
  { severity: 'WARNING', state: '01000', message: 'there is already a transaction in progress' },
  { severity: 'ERROR', state: '42P01', message: 'relation does not exist' },
  { severity: 'ERROR', state: '57014', message: 'canceling statement due to statement timeout' },
  { severity: 'FATAL', state: '28P01', message: 'password authentication failed' },
  { severity: 'FATAL', state: '53300', message: 'sorry, too many clients already' },
] as const;

const USERS = ['authenticator', 'postgres', 'supabase_admin', 'supabase_auth_admin', 'pgbouncer'];

/** What databases log: some 430 bytes an event. */
export class PostgresEvents implements EventMaker {
  readonly #draw: Draw;

  constructor(of: DrawOptions) {
    this.#draw = new Draw(7, of);
  }

  next(): string {
    const draw = this.#draw;
    const { random } = draw;
    const {
      project: { ref },
      id,
      timestamp,
    } = draw.event();
    const { severity, state, message } = draw.skewed(SAYINGS);
    return `{"id":"${id}","timestamp":${timestamp},"event_message":"${message}","project":"${ref}","metadata":{"host":"db-${ref}","parsed":{"backend_type":"client backend","database_name":"postgres","error_severity":"${severity}","process_id":${1000 + random.below(60_000)},"session_id":"${draw.hex8()}.${draw.hex8()}","session_line_num":${1 + random.below(9)},"sql_state_code":"${state}","transaction_id":${random.below(1_000_000)},"user_name":"${draw.skewed(USERS)}"}}}`;
  }
}
