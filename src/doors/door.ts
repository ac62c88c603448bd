import type { Request, Response } from 'express';
import { must } from '../../engine/assert.ts';
import { refusalSentences, type UnreadableTimestamps } from '../../ingest/admission.ts';
import { BODY_BYTES_MAX } from '../../ingest/limits.ts';
import type { Source } from '../../ingest/source.ts';
import type { Translated, WireFormat } from '../../ingest/wire/wire-format.ts';
import { authorizeSource, type Grant } from '../access/grant.ts';
import { tenantOf } from '../access/tenant.ts';
import type { Clock } from '../clock.ts';
import type { BodyReader } from '../http/body.ts';
import type { TellFailure } from '../http/failure.ts';
import { readMediaType } from '../http/media-type.ts';
import type { GuardedOperation } from '../http/route.ts';
import type { FailureSchemas, MediaText, OperationText } from '../openapi/operation-text.ts';
import type { LogIntake } from '../store/log-intake.ts';
import { findAddress, mustFindSource, sourceOfToken } from './post-address.ts';
import { tellWarnings } from './post-warnings.ts';

/** What was stored of a body, for a door to tell its sender. */
export type Posted<Notes> = {
  /** Of the format. */
  readonly notes: Notes;
  readonly eventCount: number;
  /** The events of the body that were not taken, from zero, and why, of the first of them. */
  readonly refused: ReadonlyMap<number, string | undefined>;
  readonly unreadableTimestamps: UnreadableTimestamps | undefined;
  /** Those stored with U+FFFD for bytes that were not UTF-8. */
  readonly repaired: readonly number[];
};

/** A sentence for each event that was not taken; the last one counts those that are not listed. */
export function refusedSentences({ refused }: Posted<unknown>): readonly string[] {
  const listed = new Map<number, string>();
  for (const [event, reason] of refused) if (reason !== undefined) listed.set(event, reason);
  const unlisted = [...refused.keys()].filter((event) => !listed.has(event));
  return refusalSentences({
    events: [...listed.keys(), ...unlisted],
    reasons: [...listed.values()],
  });
}

/** How one kind of sender is listened to, and spoken to: in its own words, by its own rules for trying again. */
export type Door<Notes> = {
  /** What is done there, for a list of all routes. */
  readonly summary: string;
  /** A body of one of its media types. */
  readonly bodyText: (mediaType: string) => MediaText;
  /** By status, what `tell` may say. */
  readonly answers: OperationText['answers'];
  /** What senders may say the body is, and how each is read; what says nothing is of the first. */
  readonly formats: ReadonlyMap<string, WireFormat<Notes>>;
  /**
   * Which source is meant where neither the URL nor a header names one: none, that which the body names, or that of
   * an index in the path, else the default one.
   */
  readonly sourceElse: 'none' | 'body' | 'default';
  readonly tell: (request: Request, response: Response, posted: Posted<Notes>) => void;
  /** In the words of the profile, unless given. */
  readonly tellFailure?: TellFailure;
  /** What these words look like. */
  readonly failureSchemas?: FailureSchemas;
};

export type DoorOptions = {
  readonly intake: LogIntake;
  readonly bodies: BodyReader;
  readonly clock: Clock;
  /** Of doors whose senders name none. */
  readonly defaultSource: Source;
};

/** Takes a post at a door. What is wrong with its source is told before the body is read, where it can be known. */
export function doorHandler<Notes>(
  door: Door<Notes>,
  options: DoorOptions,
): GuardedOperation['handle'] {
  const { intake, bodies, clock, defaultSource } = options;
  const { formats, sourceElse } = door;
  const [firstType] = formats.keys();
  return async (request, response, { grant, query }) => {
    const address = findAddress(query, request);
    let source: Source | undefined;
    if (address !== undefined || sourceElse === 'none')
      source = mustFindSource(intake, address, grant);
    else if (sourceElse === 'default')
      source = pathSource(intake, request) ?? sourceOfToken(intake, grant) ?? defaultSource;
    if (source !== undefined) authorizeSource(grant, source);
    const type = readMediaType(request.headers['content-type'], [...formats.keys()]) ?? firstType!;
    const format = formats.get(type)!;
    const check = (): void => intake.check(source);
    const terms = { bytesMax: BODY_BYTES_MAX, tenant: tenantOf(grant), check };
    const posted = await bodies.use(request, response, terms, async (pieces) => {
      const nowUs = clock.nowUs();
      const { headers } = request;
      const body = { pieces, mediaType: type, headers, nowUs };
      const translated = await intake.translate(format, body);
      const target = source ?? mustFindSource(intake, translated.events.bodyAddress, grant);
      return await store(intake, translated, { source: target, nowUs, grant });
    });
    tellWarnings(response, posted);
    door.tell(request, response, posted);
  };
}

/** Of the index in a path, where that is a source's name. */
function pathSource(intake: LogIntake, { params }: Request): Source | undefined {
  const { index } = params;
  return typeof index === 'string' ? intake.findSource(index) : undefined;
}

type Target = { readonly source: Source; readonly nowUs: number; readonly grant: Grant };

/**
 * Stores the events of each address in the source of that name, if there is one, else in that of the body.
 * Where one of several cannot be stored, those before it are; a sender who tries again sends them twice.
 */
async function store<Notes>(
  intake: LogIntake,
  { events, notes }: Translated<Notes>,
  { source, nowUs, grant }: Target,
): Promise<Posted<Notes>> {
  const refused = new Map<number, string | undefined>();
  let unreadableTimestamps: UnreadableTimestamps | undefined;
  const repaired: number[] = [];
  const targets = events.addresses.map((address) => {
    const named = address === undefined ? undefined : intake.findSource(address);
    return { address, target: named ?? source };
  });
  // All before the first is stored: a token that is not for one of them posts nothing.
  for (const { target } of targets) authorizeSource(grant, target);
  for (const { address, target } of targets) {
    const decoded = await intake.decode([events.body(address)], 'json', events.isRepaired);
    const receipt = { nowUs, projects: grant.projects };
    const stored = await decoded.store(target, receipt);
    const ordinals = events.ordinals(address);
    const ordinalOf = (event: number): number =>
      must(ordinals[event], 'an event that was not taken as it is was sent');
    for (const [index, event] of stored.events.entries()) {
      const ordinal = ordinalOf(event);
      refused.set(ordinal, events.reasonOf(ordinal) ?? stored.reasons[index]);
    }
    for (const event of stored.repaired) repaired.push(ordinalOf(event));
    unreadableTimestamps = together(unreadableTimestamps, stored.unreadableTimestamps);
  }
  return { notes, eventCount: events.count, refused, repaired, unreadableTimestamps };
}

function together(
  one: UnreadableTimestamps | undefined,
  other: UnreadableTimestamps | undefined,
): UnreadableTimestamps | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { ...one, count: one.count + other.count };
}
