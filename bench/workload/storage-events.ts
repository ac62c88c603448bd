import { Draw, type DrawOptions } from './draw.ts';
import type { EventMaker } from './event-maker.ts';

const BUCKETS = ['avatars', 'public', 'images', 'attachments', 'exports', 'backups', 'invoices'];
const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'DELETE'];
const STATUSES = [200, 200, 200, 200, 206, 304, 400, 404, 500];

/** Files of all buckets; some are read again and again. */
const FILE_COUNT = 5_000;

/** Files that are read and written, as the service for it logs them: some 360 bytes. */
export class StorageEvents implements EventMaker {
  readonly #draw: Draw;

  constructor(of: DrawOptions) {
    this.#draw = new Draw(6, of);
  }

  next(): string {
    const draw = this.#draw;
    const { random } = draw;
    const {
      project: { ref },
      id,
      timestamp,
    } = draw.event();
    const bucket = draw.skewed(BUCKETS);
    const file = Math.floor(FILE_COUNT * random.next() ** 2);
    const path = `/object/${bucket}/${file % 50}/${file}.png`;
    const method = random.pick(METHODS);
    const status = random.pick(STATUSES);
    const responseTime = (random.durationMs(20_000) + random.below(1000) / 1000) / 1000;
    return `{"id":"${id}","timestamp":${timestamp},"event_message":"${method} | ${status} | ${path}","metadata":{"project":"${ref}","tenantId":"${ref}","level":"info","bucket":"${bucket}","path":"${path}","size":${random.durationMs(80_000)},"reqId":"${draw.uuid()}","res":{"statusCode":${status}},"responseTime":${responseTime}}}`;
  }
}
