import type { Request, Response } from 'express';
import {
  type Refusals,
  refusalSentences,
  type UnreadableTimestamps,
} from '../../ingest/admission.ts';
import { Slices, yieldToEventLoop } from '../../ingest/event-loop.ts';
import { BODY_BYTES_MAX } from '../../ingest/limits.ts';
import type { PostContents } from '../../ingest/post-decoding.ts';
import type { Source } from '../../ingest/source.ts';
import type { WireFormat } from '../../ingest/wire/wire-format.ts';
import { authorizeDefaultSource, authorizeSource, type Grant } from '../access/grant.ts';
import type { DailyUse } from '../access/quota-file.ts';
import type { Quotas } from '../access/quotas.ts';
import { toTenant } from '../access/tenant.ts';
import type { Clock } from '../clock.ts';
import type { ParameterTexts } from '../definition/parameters.ts';
import { type RefusalCode, ServiceError } from '../errors.ts';
import type { Body, BodyReader } from '../http/body.ts';
import type { BodyEncoding } from '../http/encoding/body-encoding.ts';
import type { TellFailure } from '../http/failure.ts';
import { readMediaType } from '../http/media-type.ts';
import type { Bearer, Route } from '../http/route.ts';
import type { TransportRequest, TransportResponse } from '../http/transport.ts';
import type {
  FailureSchemas,
  MediaText,
  OperationText,
  ParameterText,
} from '../openapi/operation-text.ts';
import type {
  Alterations,
  DecodedPost,
  EventsWithoutProject,
  LogIntake,
  StoredLogs,
} from '../store/log-intake.ts';
import { identifySender, type PostHistory } from '../watch/post-history.ts';
import { type AddressKey, findAddress, mustFindSource, sourceOfToken } from './post-address.ts';
import { tellWarnings } from './post-warnings.ts';

/** What was stored of a body, for the answer to its sender. */
type Posted<Notes> = Alterations & {
  /** The time at which the body was read, in microseconds. */
  readonly nowUs: number;
  /** Notes of the format. */
  readonly notes: Notes;
  /** Number of events that are stored. */
  readonly storedCount: number;
  /** The events of the body that were refused. */
  readonly refusals: Refusals;
  /** Events without a project, by source. */
  readonly withoutProject: readonly EventsWithoutProject[];
};

/** @throws ServiceError with this code when events were refused. All others are stored. */
export function checkRefusals(code: RefusalCode, refusals: Refusals): void {
  const count = refusals.events.length;
  if (count === 0) return;
  const events = count === 1 ? '1 event was' : `${count} events were`;
  throw new ServiceError(code, `${events} refused; all others of the post are stored`, {
    refusals: refusalSentences(refusals),
  });
}

/**
 * A receiver: how it reads and answers one kind of sender, by that sender's own rules for answers
 * and retries. Unless its requests and responses are those of any transport, it works over HTTP only. A header in which only
 * this sender has its token is listed in `src/access/authenticate.ts` and `src/openapi/security.ts`.
 */
export type Door<
  Notes,
  Rq extends TransportRequest = Request,
  Rs extends TransportResponse = Response,
> = {
  /** A summary for the list of all routes. */
  readonly summary: string;
  /** A sample body of one of its media types. */
  readonly bodyText: (mediaType: string) => MediaText;
  /** The answers that `tell` may send, by status. */
  readonly answers: OperationText['answers'];
  /** The accepted media types and their formats; a body without a media type has the first. */
  readonly formats: ReadonlyMap<string, WireFormat<Notes>>;
  /** The encodings of bodies without `Content-Encoding`, by media type. */
  readonly encodingsElse?: ReadonlyMap<string, BodyEncoding>;
  /**
   * The source if neither the URL nor a header names one. `none`: the post is refused. `body`: the one that the body names.
   * `default`: that of the index in the path, else the default source; `src/setting-table.ts` lists these receivers.
   */
  readonly sourceElse: 'none' | 'body' | 'default';
  /** The parameters in the URL that may name the source; by default all of them. */
  readonly addressKeys?: readonly AddressKey[];
  /** Parameters that only this kind of sender gives. */
  readonly parameters?: readonly ParameterText[];
  /** The failure that lists refused events. Without it, `tell` lists them. */
  readonly refusalCode?: RefusalCode;
  /** Whether `tell` lists the refused events of a post with stored ones, and the failure only those of other posts. */
  readonly tellsRefusals?: true;
  /** Checks the `parameters` before the body is read. @throws ServiceError with the code `invalid_parameter`. */
  readonly check?: (query: ParameterTexts) => void;
  /** Checks the body as it was sent, before decompression. @throws ServiceError if its signature is wrong. */
  readonly checkSent?: (request: Rq, body: Body) => void;
  readonly tell: (
    request: Rq,
    response: Rs,
    posted: Posted<Notes>,
    query: ParameterTexts,
  ) => void | Promise<void>;
  /**
   * Bytes of an answer that grows with the body. They count with the body until the answer is sent.
   */
  readonly answerBytes?: (notes: Notes) => number;
  /** Defaults to the profile's. */
  readonly tellFailure?: TellFailure;
  /** The schemas of these failures. */
  readonly failureSchemas?: FailureSchemas;
  /** The status of an answer to OPTIONS; by default that of routes. */
  readonly optionsStatus?: Route['optionsStatus'];
};

export type DoorOptions = {
  readonly intake: LogIntake;
  readonly bodies: BodyReader;
  readonly clock: Clock;
  /** Without it, posts are unlimited. */
  readonly quotas?: Quotas | undefined;
  readonly posts: PostHistory;
  /** The source of posts that name none. */
  readonly defaultSource: Source;
};

/**
 * Handles a post. Problems of its source are reported before the body is read, if they can be known
 * then.
 */
export function doorHandler<
  Notes,
  Rq extends TransportRequest = Request,
  Rs extends TransportResponse = Response,
>(
  door: Door<Notes, Rq, Rs>,
  options: DoorOptions,
): (request: Rq, response: Rs, bearer: Bearer) => Promise<void> {
  const { intake, bodies, clock, defaultSource, quotas, posts } = options;
  const {
    formats,
    encodingsElse,
    sourceElse,
    addressKeys,
    refusalCode,
    tellsRefusals = false,
  } = door;
  const [firstType] = formats.keys();
  return async (request, response, { grant, query }) => {
    door.check?.(query);
    const address = findAddress(query, request, addressKeys);
    let source: Source | undefined;
    if (address !== undefined || sourceElse === 'none')
      source = mustFindSource(intake, address, grant);
    else if (sourceElse === 'default')
      source = pathSource(intake, request, grant) ?? sourceOfToken(intake, grant) ?? defaultSource;
    if (source !== undefined) authorizeDefaultSource(grant, source);
    const type = readMediaType(request.headers['content-type'], [...formats.keys()]) ?? firstType!;
    const format = formats.get(type)!;
    const check = (): void => {
      quotas?.check(grant);
      intake.check(source);
    };
    const encodingElse = encodingsElse?.get(type);
    const checkSent = (body: Body): void => door.checkSent?.(request, body);
    const terms = {
      bytesMax: BODY_BYTES_MAX,
      tenant: toTenant(grant),
      encodingElse,
      check,
      checkSent,
    };
    const posted = await bodies.use(request, response, terms, async (pieces, holdAnswer) => {
      const nowUs = clock.nowUs();
      const { headers } = request;
      const documentId = pathText(request, 'id');
      const body = { pieces, format, mediaType: type, headers, query, documentId, nowUs };
      const post = await intake.decode(body, () => response.destroyed);
      try {
        const { bodyAddress, notes } = post.contents;
        const target = source ?? mustFindSource(intake, bodyAddress, grant);
        // The format of this receiver made the notes.
        const ofFormat = notes as Notes;
        if (door.answerBytes !== undefined) holdAnswer(door.answerBytes(ofFormat));
        const onStored = (to: Source, stored: StoredLogs): void =>
          posts.addStored(identifySender(request, grant), to, stored);
        const to = { source: target, nowUs, grant, quotas, response, onStored };
        return { notes: ofFormat, nowUs, ...(await store(intake, post, to)) };
      } finally {
        post.end();
      }
    });
    tellWarnings(response, posted, posted.withoutProject);
    const isTold = tellsRefusals && posted.storedCount > 0;
    if (refusalCode !== undefined && !isTold) checkRefusals(refusalCode, posted.refusals);
    await door.tell(request, response, posted, query);
  };
}

/**
 * The source that the index in a path names, if there is one.
 *
 * @throws ServiceError when the token is bound to other sources.
 */
function pathSource(
  intake: LogIntake,
  request: TransportRequest,
  grant: Grant,
): Source | undefined {
  const index = pathText(request, 'index');
  if (index === undefined) return undefined;
  const source = intake.findSource(index);
  authorizeSource(grant, index, source);
  return source;
}

/** The parameter of the path with this name, if it has one. */
function pathText({ params }: TransportRequest, name: string): string | undefined {
  const text = params[name];
  return typeof text === 'string' ? text : undefined;
}

type Target = {
  readonly source: Source;
  readonly nowUs: number;
  readonly grant: Grant;
  readonly quotas: Quotas | undefined;
  readonly response: Pick<TransportResponse, 'destroyed'>;
  /** Called after the events of each source are stored. */
  readonly onStored: (source: Source, stored: StoredLogs) => void;
};

/**
 * Stores the events of each address in the source of that name, if it exists, else in the body's
 * source. Events of one source are stored together, so a body waits for one sync per source,
 * however many addresses it has. If storing fails or the sender disconnects in between, the sources
 * before are stored, and a retry sends them again.
 */
async function store(
  intake: LogIntake,
  post: DecodedPost,
  { source, nowUs, grant, quotas, response, onStored }: Target,
): Promise<Omit<Posted<unknown>, 'notes' | 'nowUs'>> {
  // Checks all addresses before storing any: a token that may not use one of them stores nothing.
  const bySource = await addressesBySource(post.contents.addresses, (address) => {
    if (address === undefined) return source;
    const named = intake.findSource(address);
    authorizeSource(grant, address, named);
    return named ?? source;
  });
  const refusals: Refusals[] = [];
  let unreadableTimestamps: UnreadableTimestamps | undefined;
  const repaired: number[][] = [];
  let storedCount = 0;
  const withoutProject: EventsWithoutProject[] = [];
  for (const [target, addresses] of bySource) {
    if (refusals.length > 0 && response.destroyed) throw senderGone();
    const stored = await post.store(target, {
      addresses,
      nowUs,
      projects: grant.projects,
      onStored: (more: DailyUse) => quotas?.count(grant, more),
    });
    onStored(target, stored);
    storedCount += stored.storedEvents;
    refusals.push(stored);
    repaired.push([...stored.repaired]);
    if (stored.withoutProject !== undefined) withoutProject.push(stored.withoutProject);
    unreadableTimestamps = together(unreadableTimestamps, stored.unreadableTimestamps);
  }
  return {
    storedCount,
    refusals: joinRefusals(refusals),
    repaired: repaired.flat(),
    ...{ unreadableTimestamps, withoutProject },
  };
}

/**
 * Groups addresses by source, by their indexes. Yields to other work, because a body may name many.
 */
async function addressesBySource(
  addresses: PostContents['addresses'],
  chooseSource: (address: string | undefined) => Source,
): Promise<ReadonlyMap<Source, readonly number[]>> {
  const bySource = new Map<Source, number[]>();
  const slices = new Slices(ADDRESSES_PER_SLICE);
  for (const [index, address] of addresses.entries()) {
    const source = chooseSource(address);
    const known = bySource.get(source);
    if (known === undefined) bySource.set(source, [index]);
    else known.push(index);
    if (slices.isOver(index)) await yieldToEventLoop();
  }
  return bySource;
}

/** Looking up this many takes some milliseconds. */
const ADDRESSES_PER_SLICE = 4_096;

function joinRefusals(parts: readonly Refusals[]): Refusals {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return first;
  const listed = parts.map(({ events, reasons }) => events.slice(0, reasons.length));
  const unlisted = parts.map(({ events, reasons }) => events.slice(reasons.length));
  return {
    events: [...listed, ...unlisted].flat(),
    reasons: parts.flatMap(({ reasons }) => reasons),
  };
}

function senderGone(): ServiceError {
  return new ServiceError(
    'invalid_body',
    'the sender disconnected before all sources of its post were stored',
  );
}

function together(
  one: UnreadableTimestamps | undefined,
  other: UnreadableTimestamps | undefined,
): UnreadableTimestamps | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { ...one, count: one.count + other.count };
}
