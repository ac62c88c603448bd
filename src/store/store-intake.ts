import { randomUUID } from 'node:crypto';
import { type Batch, referenceLength, referenceOffset } from '../../engine/columns.ts';
import type { AdmissionManners } from '../../ingest/admission.ts';
import { sizeOfPieces } from '../../ingest/body-pieces.ts';
import { CAN_DECODE_APART, DecodingThread } from '../../ingest/decoding-thread.ts';
import { DECODED_APART_BYTES_MIN } from '../../ingest/limits.ts';
import type { LogStore } from '../../ingest/log-store.ts';
import { MemoryPool } from '../../ingest/memory-pool.ts';
import {
  type DecodingOptions,
  LocalDecoding,
  type PostContents,
  type PostDecoding,
  type PostedBody,
} from '../../ingest/post-decoding.ts';
import { randomUuids } from '../../ingest/random-id.ts';
import { isUuid, type Source, type SourceDirectory } from '../../ingest/source.ts';
import { formatStack, type Log } from '../log.ts';
import type { MemoryDivision } from '../memory-shares.ts';
import type { IngestCounts } from './ingest-counts.ts';
import { asServiceErrors, withServiceErrors } from './intake-errors.ts';
import type { DecodedPost, LogIntake, Receipt, StoredEvent, StoredLogs } from './log-intake.ts';

/** Takes in the batches of posts. */
export type BatchStore = Pick<LogStore, 'append' | 'check' | 'stats'>;

export type StoreIntakeOptions = {
  readonly directory: SourceDirectory;
  readonly store: BatchStore;
  readonly durableMs: LogIntake['durableMs'];
  readonly retentionUs: number;
  readonly counts: IngestCounts;
  readonly manners: AdmissionManners;
  readonly division: Pick<MemoryDivision, 'pooledBytesMax' | 'decodingBounds'>;
  readonly log: Log;
  /** Bytes from which a body is decoded in a separate thread; by default the limit's. */
  readonly apartBytesMin?: number | undefined;
};

/** Decodes posts, large ones in a separate thread, and passes their events to the store. */
export class StoreIntake implements LogIntake {
  readonly durableMs: LogIntake['durableMs'];
  readonly #directory: SourceDirectory;
  readonly #store: BatchStore;
  readonly #counts: IngestCounts;
  readonly #decoding: DecodingOptions;
  readonly #thread: DecodingThread;
  readonly #apartBytesMin: number;

  constructor(options: StoreIntakeOptions) {
    const { retentionUs, manners, division, log } = options;
    this.durableMs = options.durableMs;
    this.#directory = options.directory;
    this.#store = options.store;
    this.#counts = options.counts;
    this.#apartBytesMin = options.apartBytesMin ?? DECODED_APART_BYTES_MIN;
    this.#decoding = {
      ...{ retentionUs, manners },
      pool: new MemoryPool(division.pooledBytesMax),
      randomId: randomUuids(),
      newId: randomUUID,
    };
    this.#thread = new DecodingThread({
      ...{ retentionUs, manners },
      bounds: division.decodingBounds,
      onLost: (error) => log({ level: 'error', event: 'decoding_lost', error: formatStack(error) }),
    });
  }

  findSource(text: string): Source | undefined {
    return isUuid(text) ? this.#directory.findById(text) : this.#directory.findByName(text);
  }

  listSources(): readonly Source[] {
    return this.#directory.sources;
  }

  /** Bytes of arrays that are reused from one decoded body to the next. */
  get pooledBytes(): number {
    return this.#decoding.pool.freeBytes;
  }

  sizes(): ReturnType<LogIntake['sizes']> {
    const stats = this.#store.stats();
    return new Map(
      stats.map(({ source, rowCount, byteSize }) => [
        source,
        { events: rowCount, bytes: byteSize },
      ]),
    );
  }

  check(source: Source | undefined): void {
    withServiceErrors(() => this.#store.check(source?.name));
  }

  decode(posted: PostedBody, isGone?: () => boolean): Promise<DecodedPost> {
    const decoding = this.#isDecodedApart(posted)
      ? this.#thread.decoding(posted, isGone)
      : new LocalDecoding(posted, this.#decoding);
    return asServiceErrors(async () => {
      try {
        const contents = await decoding.begin();
        return new StoredPost(contents, { decoding, store: this.#store, counts: this.#counts });
      } catch (error) {
        decoding.end();
        throw error;
      }
    });
  }

  #isDecodedApart(posted: PostedBody): boolean {
    if (!CAN_DECODE_APART) return false;
    const expands = 'mediaType' in posted && posted.format.expands === true;
    return expands || sizeOfPieces(posted.pieces) >= this.#apartBytesMin;
  }

  /** Ends the thread; what it is decoding fails. */
  close(): Promise<void> {
    return this.#thread.close();
  }
}

type StoredPostParts = {
  readonly decoding: PostDecoding;
  readonly store: BatchStore;
  readonly counts: IngestCounts;
};

/** A decoded post that has not been stored completely. */
class StoredPost implements DecodedPost {
  readonly contents: PostContents;
  readonly #parts: StoredPostParts;

  constructor(contents: PostContents, parts: StoredPostParts) {
    this.contents = contents;
    this.#parts = parts;
  }

  store(source: Source, receipt: Receipt): Promise<StoredLogs> {
    const { addresses = [...this.contents.addresses.keys()], nowUs, projects, onStored } = receipt;
    const { decoding, store, counts } = this.#parts;
    return asServiceErrors(async () => {
      const admitted = await decoding.admit({ source, nowUs, projects, addresses });
      const { batch, refusals, repaired, unreadableTimestamps, bodySize: bytes } = admitted;
      const { withoutProject: count } = admitted;
      const { rowCount: events } = batch;
      if (events > 0) {
        await store.append(source.name, batch, nowUs);
        onStored?.({ events, bytes });
      }
      counts.add(source.name, {
        events,
        refusals: refusals.events.length,
        repairs: repaired.length,
        unreadableTimestamps: unreadableTimestamps?.count ?? 0,
        bytes,
      });
      // Field by field, because spreading an object would take longer than everything else here.
      return {
        events: refusals.events,
        reasons: refusals.reasons,
        repaired,
        unreadableTimestamps,
        withoutProject: count === 0 ? undefined : { source, count },
        storedEvents: events,
        lastEvent: events === 0 ? undefined : readEvent(batch, events - 1),
      };
    });
  }

  /** The store retains nothing of a batch, whether it accepted the batch or not. */
  end(): void {
    this.#parts.decoding.end();
  }
}

function readEvent({ bytes, ids, timestampsUs, projectKeys }: Batch, row: number): StoredEvent {
  const read = (reference: number): string => {
    const start = referenceOffset(reference);
    return Buffer.from(
      bytes.buffer,
      bytes.byteOffset + start,
      referenceLength(reference),
    ).toString();
  };
  const key = projectKeys[row]!;
  const project = key < 0 ? undefined : read(key);
  return { id: read(ids[row]!), timestampUs: timestampsUs[row]!, project };
}
