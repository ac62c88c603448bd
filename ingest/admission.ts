import {
  type Batch,
  EMPTY_LIST,
  JSON_TEXT,
  KIND_BITS,
  MIXED_PROJECTS,
  must,
  NO_STRING,
  NODE_HEADER_SIZE,
  NULL_KIND,
  RECORD,
  RECORD_LIST,
  referenceLength,
  referenceOffset,
  stringReference,
  TEXT,
} from '../engine/columns.ts';
import { fieldKey, fieldKind, fieldSlotCount, fieldTokenCount } from './duplicate-key.ts';
import { EventFields } from './event-fields.ts';
import { Slices, yieldToEventLoop } from './event-loop.ts';
import { DAY_US } from './event-time.ts';
import {
  ADDRESS_KEY_END,
  ADDRESS_KEY_START,
  EVENT_MESSAGE_KEY,
  ID_KEY,
  MESSAGE_KEY,
  METADATA_KEY,
  PROJECT_KEY,
  TIMESTAMP_KEY,
  TIMESTAMP_TEXT_KEY,
} from './known-key.ts';
import {
  ADMIT_SLICE_TOKENS,
  AHEAD_US_MAX,
  PROJECT_ECHO_LENGTH_MAX,
  REFUSALS_LISTED_MAX,
  TIMESTAMP_ECHO_LENGTH_MAX,
} from './limits.ts';
import type { DecodedBody } from './post-body.ts';
import { ProjectKeyReader } from './project-key.ts';
import { appendText, ProjectStamp, stampRoom } from './project-stamp.ts';
import { RANDOM_ID_SIZE, type RandomId } from './random-id.ts';
import { RequestUrl, URL_SLOTS, URL_TOKENS } from './request-url.ts';
import type { Source } from './source.ts';

export type AdmissionOptions = {
  readonly source: Source;
  /** The time of receipt, in microseconds since the epoch. Events without a readable timestamp get it. */
  readonly nowUs: number;
  /** The age of the oldest event that is stored: `RETENTION_DAYS`, in microseconds. */
  readonly retentionUs: number;
  /** Makes the ids of events that have none. */
  readonly randomId: RandomId;
  readonly manners?: AdmissionManners | undefined;
  /**
   * The projects that the sender may write. With one project, each event gets it, whatever project the event names.
   * With several, each event must name one of them.
   */
  readonly projects?: 'all' | readonly string[] | undefined;
};

/** Deviations that some senders expect. All are off by default. */
export type AdmissionManners = {
  /** An event that is a whole body gets a new id and the time of its receipt, whatever it names. */
  readonly isSingleAnonymous?: boolean;
  /** The source whose events get a `url` in `metadata.request` where the sender left it out; see `RequestUrl`. */
  readonly requestUrlSource?: string;
};

export type Admitted = {
  /** The events that may be stored, in the order posted; perhaps none. */
  readonly batch: Batch;
  readonly refusals: Refusals;
  readonly unreadableTimestamps?: UnreadableTimestamps | undefined;
  /** How many events of the batch belong to no project by the rule of their source: no query of a project finds them. */
  readonly withoutProject: number;
};

/**
 * The events of a batch whose timestamp cannot be read. They have the time of their receipt, and the text of their
 * timestamp under `timestamp_text`.
 */
export type UnreadableTimestamps = {
  /** Number of events, at least one. */
  readonly count: number;
  /** The text of the first one, cut off after TIMESTAMP_ECHO_LENGTH_MAX characters. */
  readonly firstText: string;
};

/** The events of a body that are not stored. */
export type Refusals = {
  /** Ordinals, from zero in the order posted. Events with a listed reason come first. */
  readonly events: readonly number[];
  /** The reasons of the first `reasons.length` events. */
  readonly reasons: readonly string[];
};

/** A sentence for each refused event; the last one counts those whose reasons are not listed. */
export function refusalSentences({ events, reasons }: Refusals): readonly string[] {
  const listed = reasons.map((reason, index) => `event ${events[index]}: ${reason}`);
  const unlisted = events.length - reasons.length;
  return unlisted === 0 ? listed : [...listed, `… and ${unlisted} more events`];
}

/**
 * Decides for each event of a body its id, message, time and project, or why it is refused. Consumes the body: the
 * batch lies in the body's memory. Yields to the event loop every ADMIT_SLICE_TOKENS or sooner.
 */
export async function admitEvents(body: DecodedBody, options: AdmissionOptions): Promise<Admitted> {
  if (body.decoder.tokenCount > ADMIT_SLICE_TOKENS) await yieldToEventLoop();
  const admission = new Admission(body, options);
  const slices = new Slices(ADMIT_SLICE_TOKENS);
  for (let event = 0; event < body.eventCount; event++) {
    admission.admit(event);
    const tokensDone = body.tokenStarts[event + 1]! + event * EVENT_TOKENS;
    if (slices.isOver(tokensDone)) await yieldToEventLoop();
  }
  return {
    batch: admission.batch(),
    refusals: admission.refusals(),
    unreadableTimestamps: admission.unreadableTimestamps(),
    withoutProject: admission.withoutProject,
  };
}

/** The fixed cost of an event, in tokens. */
const EVENT_TOKENS = 16;

const NO_METADATA = -1;

/** The conversion of one body to a batch. */
class Admission {
  readonly #body: DecodedBody;
  readonly #options: AdmissionOptions;
  readonly #fields: EventFields;
  readonly #projectKeyReader: ProjectKeyReader | undefined;
  readonly #requestUrl: RequestUrl | undefined;
  /**
   * Writes the one project of all events, where the source's rule looks for it in metadata; `undefined` where the rule
   * is the column.
   */
  readonly #stamp: ProjectStamp | undefined;
  readonly #stampedProject: number = NO_STRING;
  /** The allowed projects, of which each event must name one. */
  readonly #projectsAllowed: ReadonlySet<string> | undefined;
  /** Whether the ids and times that events name are ignored. */
  readonly #isAnonymous: boolean;
  readonly #refusedEvents: number[] = [];
  readonly #reasons: string[] = [];

  /** The text of the current event's timestamp if it cannot be read; else NO_STRING. */
  #unreadableText = NO_STRING;
  #unreadableCount = 0;
  #firstUnreadable = '';

  withoutProject = 0;

  #rowCount = 0;
  #tokenCount = 0;
  #slotCount = 0;
  /** The token of the current row's metadata, or NO_METADATA. */
  #metadataAt = NO_METADATA;
  #metadataSlot = 0;
  readonly #tokens: Int32Array;
  readonly #tokenStarts: Uint32Array;
  readonly #slots: Float64Array;
  readonly #slotStarts: Uint32Array;
  readonly #ids: Float64Array;
  readonly #timestampsUs: Float64Array;
  readonly #messages: Float64Array;
  readonly #projects: Float64Array;
  readonly #projectKeys: Float64Array;

  constructor(body: DecodedBody, options: AdmissionOptions) {
    const { eventCount, text, decoder, memory } = body;
    this.#body = body;
    this.#options = options;
    this.#fields = new EventFields(text, decoder);
    const { source, manners } = options;
    this.#isAnonymous = manners?.isSingleAnonymous === true && body.isSingle;
    const hasUrls = manners?.requestUrlSource === source.name;
    // Metadata that is a map becomes a list of one: another node at most, per event.
    const tokensAdded = NODE_HEADER_SIZE + (hasUrls ? URL_TOKENS : 0);
    const { projectPath } = source;
    const { projects = 'all' } = options;
    const isInMetadata = projectPath[0] === 'metadata';
    const stamped = projects !== 'all' && projects.length === 1 ? projects[0] : undefined;
    if (projects !== 'all' && projects.length !== 1) this.#projectsAllowed = new Set(projects);
    const { tokenCount } = decoder;
    const room =
      stamped === undefined || !isInMetadata
        ? { tokens: 0, slots: 0 }
        : stampRoom(projectPath, { tokenCount, eventCount });
    this.#tokens = memory.integers(tokenCount + eventCount * tokensAdded + room.tokens);
    this.#tokenStarts = memory.offsets(eventCount + 1).fill(0, 0, 1);
    // A timestamp that cannot be read becomes a text, which takes a slot; `true` and an empty list took none.
    const slotsAdded = eventCount * (1 + (hasUrls ? URL_SLOTS : 0)) + room.slots;
    this.#slots = memory.numbers(decoder.slotCount + slotsAdded);
    this.#slotStarts = memory.offsets(eventCount + 1).fill(0, 0, 1);
    this.#ids = memory.numbers(eventCount);
    this.#timestampsUs = memory.numbers(eventCount);
    this.#messages = memory.numbers(eventCount);
    this.#projects = memory.numbers(eventCount);
    const to = { tokens: this.#tokens, slots: this.#slots };
    if (stamped !== undefined && !isInMetadata) this.#stampedProject = appendText(text, stamped);
    if (stamped !== undefined && isInMetadata) {
      const { keys } = decoder;
      this.#stamp = new ProjectStamp({ text, keys, from: decoder, to }, projectPath, stamped);
    }
    const records = { text, keys: decoder.keys, tokens: this.#tokens, slots: this.#slots };
    this.#requestUrl = hasUrls ? new RequestUrl(records) : undefined;
    if (isInMetadata) {
      this.#projectKeyReader = new ProjectKeyReader(records, projectPath);
      this.#projectKeys = memory.numbers(eventCount);
    } else {
      this.#projectKeys = this.#projects;
    }
  }

  batch(): Batch {
    const { text, decoder } = this.#body;
    return {
      rowCount: this.#rowCount,
      bytes: text.bytes.subarray(0, text.size),
      keys: decoder.keys.references,
      keyCount: decoder.keys.count,
      tokens: this.#tokens,
      tokenStarts: this.#tokenStarts,
      slots: this.#slots,
      slotStarts: this.#slotStarts,
      ids: this.#ids,
      timestampsUs: this.#timestampsUs,
      messages: this.#messages,
      projects: this.#projects,
      projectKeys: this.#projectKeys,
    };
  }

  refusals(): Refusals {
    return { events: this.#refusedEvents, reasons: this.#reasons };
  }

  unreadableTimestamps(): UnreadableTimestamps | undefined {
    const count = this.#unreadableCount;
    return count === 0 ? undefined : { count, firstText: this.#firstUnreadable };
  }

  admit(event: number): void {
    const start = this.#body.tokenStarts[event]!;
    const end = this.#body.tokenStarts[event + 1]!;
    if (start === end) {
      const reason = this.#body.badEvents.get(event);
      this.#refuse(event, reason ?? 'an event must be an object; got another value');
      return;
    }
    const slotStart = this.#body.slotStarts[event]!;
    this.#fields.find(start, end, slotStart);
    const { nowUs } = this.#options;
    const isTimed = !this.#isAnonymous && this.#fields.hasValue(TIMESTAMP_KEY);
    const namedUs = isTimed ? this.#fields.timestampUs(nowUs) : undefined;
    const isUnreadable = isTimed && namedUs === undefined;
    this.#unreadableText = isUnreadable ? this.#fields.toStringReference(TIMESTAMP_KEY) : NO_STRING;
    const timestampUs = namedUs ?? nowUs;
    const error = this.#fieldError() ?? this.#timestampError(timestampUs);
    if (error !== undefined) {
      this.#refuse(event, error);
      return;
    }
    this.#appendRow(timestampUs);
    const isWhole = this.#appendRoot(start, end, slotStart);
    const foreign = isWhole ? this.#foreignError() : this.#unstampableError();
    if (foreign !== undefined) {
      this.#dropRow();
      this.#refuse(event, foreign);
      return;
    }
    if (this.#unreadableText !== NO_STRING) this.#noteUnreadable();
    if (this.#projectKeys[this.#rowCount - 1] === NO_STRING) this.withoutProject++;
  }

  #noteUnreadable(): void {
    if (this.#unreadableCount++ > 0) return;
    const reference = this.#unreadableText;
    const start = referenceOffset(reference);
    // A character has four bytes at most.
    const length = Math.min(referenceLength(reference), 4 * TIMESTAMP_ECHO_LENGTH_MAX);
    const characters = [...this.#body.text.utf8(start, start + length)];
    this.#firstUnreadable = characters.slice(0, TIMESTAMP_ECHO_LENGTH_MAX).join('');
  }

  /** Why the last row's project is not allowed; `undefined` where it is. */
  #foreignError(): string | undefined {
    const allowed = this.#projectsAllowed;
    if (allowed === undefined) return undefined;
    const key = must(this.#projectKeys[this.#rowCount - 1], 'the last row has a project key');
    const named = key >= 0 ? this.#readText(key) : undefined;
    if (named !== undefined && allowed.has(named)) return undefined;
    let got = key === MIXED_PROJECTS ? 'several, or no text' : 'none';
    if (named !== undefined) got = JSON.stringify(named.slice(0, PROJECT_ECHO_LENGTH_MAX));
    const rule = this.#options.source.projectPath.join('.');
    return `${rule} must be one of the projects that the token is bound to; got ${got}`;
  }

  #unstampableError(): string {
    const { projectPath } = this.#options.source;
    return `${projectPath.slice(0, -1).join('.')} must be made of maps, for the token's project to be written to ${projectPath.join('.')}; got another value on the way`;
  }

  #readText(reference: number): string {
    const start = referenceOffset(reference);
    return this.#body.text.utf8(start, start + referenceLength(reference));
  }

  #dropRow(): void {
    const row = --this.#rowCount;
    this.#tokenCount = must(this.#tokenStarts[row], 'the tokens of the row have a start');
    this.#slotCount = must(this.#slotStarts[row], 'the slots of the row have a start');
  }

  #refuse(event: number, reason: string): void {
    this.#refusedEvents.push(event);
    if (this.#reasons.length < REFUSALS_LISTED_MAX) this.#reasons.push(reason);
  }

  #fieldError(): string | undefined {
    const metadata = this.#fields.kind(METADATA_KEY);
    const isRecords = metadata === RECORD || metadata === RECORD_LIST;
    if (!isRecords && metadata !== NULL_KIND && metadata !== EMPTY_LIST) {
      const got = this.#fields.kindName(METADATA_KEY);
      return `metadata must be a map or a list of maps; got ${got}`;
    }
    const project = this.#fields.kind(PROJECT_KEY);
    if (project === JSON_TEXT || project === EMPTY_LIST) {
      return `project must be a string; got ${this.#fields.kindName(PROJECT_KEY)}`;
    }
    return undefined;
  }

  #timestampError(timestampUs: number): string | undefined {
    const latestUs = this.#options.nowUs + AHEAD_US_MAX;
    if (timestampUs > latestUs) {
      const latest = isoTime(latestUs);
      return `timestamp must not be more than an hour ahead, ${latest} at the latest; got ${isoTime(timestampUs)}`;
    }
    const earliestUs = this.#options.nowUs - this.#options.retentionUs;
    if (timestampUs < earliestUs) {
      const days = this.#options.retentionUs / DAY_US;
      const kept = days === 1 ? 'the 1 day' : `the ${days} days`;
      return `timestamp ${isoTime(timestampUs)} is older than ${kept} that RETENTION_DAYS keeps`;
    }
    return undefined;
  }

  #appendRow(timestampUs: number): void {
    const fields = this.#fields;
    const row = this.#rowCount;
    const messageKey = fields.hasValue(EVENT_MESSAGE_KEY) ? EVENT_MESSAGE_KEY : MESSAGE_KEY;
    this.#timestampsUs[row] = timestampUs;
    const hasId = fields.hasValue(ID_KEY) && !this.#isAnonymous;
    this.#ids[row] = hasId ? fields.toStringReference(ID_KEY) : this.#newId();
    this.#messages[row] = fields.toStringReference(messageKey);
    const isStamped = this.#stampedProject !== NO_STRING;
    this.#projects[row] = isStamped ? this.#stampedProject : fields.toStringReference(PROJECT_KEY);
  }

  #newId(): number {
    const { text } = this.#body;
    const offset = text.reserve(RANDOM_ID_SIZE);
    this.#options.randomId(text.bytes, offset);
    return stringReference(offset, RANDOM_ID_SIZE);
  }

  /**
   * Writes the row's root record, without the fields that have columns, and its project key. False if it cannot be
   * written.
   */
  #appendRoot(start: number, end: number, slotStart: number): boolean {
    const { tokens } = this.#body.decoder;
    const root = this.#tokenCount;
    const rootSlot = this.#slotCount;
    this.#tokens[root] = RECORD;
    this.#tokenCount += NODE_HEADER_SIZE;
    this.#metadataAt = NO_METADATA;
    let slot = slotStart;
    let isWhole = true;
    for (let at = start + NODE_HEADER_SIZE; at < end; at += fieldTokenCount(tokens, at)) {
      const key = fieldKey(tokens, at);
      if (key === METADATA_KEY) isWhole = this.#copyMetadata(at, slot);
      else if (key === TIMESTAMP_KEY) this.#keepTimestamp();
      else if (this.#isKept(key, fieldKind(tokens, at))) this.#copyNode(at, slot);
      slot += fieldSlotCount(tokens, at);
    }
    if (this.#stamp !== undefined && this.#metadataAt === NO_METADATA) {
      this.#stamped(this.#stamp, (stamp) => stamp.makeMetadata());
    }
    if (this.#requestUrl !== undefined) this.#completeUrl(this.#requestUrl);
    this.#tokens[root + 1] = this.#tokenCount - root - NODE_HEADER_SIZE;
    this.#tokens[root + 2] = this.#slotCount - rootSlot;
    const row = this.#rowCount++;
    this.#tokenStarts[row + 1] = this.#tokenCount;
    this.#slotStarts[row + 1] = this.#slotCount;
    if (this.#projectKeyReader !== undefined) {
      this.#projectKeys[row] = this.#projectKeyReader.read(root, rootSlot);
    }
    return isWhole;
  }

  /** Calls `write` with the stamp set to the current ends of the arrays. */
  #stamped<T>(stamp: ProjectStamp, write: (stamp: ProjectStamp) => T): T {
    stamp.tokenCount = this.#tokenCount;
    stamp.slotCount = this.#slotCount;
    const written = write(stamp);
    this.#tokenCount = stamp.tokenCount;
    this.#slotCount = stamp.slotCount;
    return written;
  }

  #completeUrl(requestUrl: RequestUrl): void {
    if (this.#metadataAt === NO_METADATA) return;
    const end = {
      tokenCount: this.#tokenCount,
      slotCount: this.#slotCount,
      project: this.#projects[this.#rowCount]!,
    };
    if (!requestUrl.complete(this.#metadataAt, this.#metadataSlot, end)) return;
    this.#tokenCount += URL_TOKENS;
    this.#slotCount += URL_SLOTS;
  }

  /** Writes the text of a timestamp that cannot be read. A readable one is stored in a column. */
  #keepTimestamp(): void {
    if (this.#unreadableText === NO_STRING) return;
    this.#tokens[this.#tokenCount++] = (TIMESTAMP_TEXT_KEY << KIND_BITS) | TEXT;
    this.#slots[this.#slotCount++] = this.#unreadableText;
  }

  #isKept(key: number, kind: number): boolean {
    // An event that was read from weir and is posted again has a `timestamp_text`, and the timestamp that weir gave it.
    // Both are kept. If that timestamp cannot be read either, its text replaces the old one.
    if (key === TIMESTAMP_TEXT_KEY) return this.#unreadableText === NO_STRING;
    if (key >= ADDRESS_KEY_END) return true;
    if (key >= ADDRESS_KEY_START) return !this.#body.isSingle || kind !== TEXT;
    // Where the event has an `event_message`, `message` is an ordinary key.
    return key === MESSAGE_KEY && this.#fields.hasValue(EVENT_MESSAGE_KEY);
  }

  /**
   * Copies metadata as a list of records, and nothing if the list is empty. False if the project cannot be written into
   * it.
   */
  #copyMetadata(at: number, slot: number): boolean {
    const { tokens } = this.#body.decoder;
    const kind = fieldKind(tokens, at);
    if (kind !== RECORD && kind !== RECORD_LIST) return true;
    this.#metadataAt = this.#tokenCount;
    this.#metadataSlot = this.#slotCount;
    if (this.#stamp !== undefined) {
      return this.#stamped(this.#stamp, (stamp) => stamp.copyMetadata(at, slot));
    }
    if (kind === RECORD_LIST) {
      this.#copyNode(at, slot);
      return true;
    }
    const list = this.#tokenCount;
    this.#tokens[list] = (METADATA_KEY << KIND_BITS) | RECORD_LIST;
    this.#tokens[list + 1] = fieldTokenCount(tokens, at);
    this.#tokens[list + 2] = fieldSlotCount(tokens, at);
    this.#tokenCount += NODE_HEADER_SIZE;
    this.#copyNode(at, slot);
    this.#tokens[list + NODE_HEADER_SIZE] = RECORD;
    return true;
  }

  #copyNode(at: number, slot: number): void {
    const { tokens, slots } = this.#body.decoder;
    const tokenEnd = at + fieldTokenCount(tokens, at);
    const slotEnd = slot + fieldSlotCount(tokens, at);
    // Most copies are short: the loop is faster than a call of `set`.
    for (let from = at; from < tokenEnd; from++) this.#tokens[this.#tokenCount++] = tokens[from]!;
    for (let from = slot; from < slotEnd; from++) this.#slots[this.#slotCount++] = slots[from]!;
  }
}

function isoTime(timestampUs: number): string {
  const date = new Date(timestampUs / 1000);
  return Number.isNaN(date.getTime()) ? `${timestampUs} µs` : date.toISOString();
}
