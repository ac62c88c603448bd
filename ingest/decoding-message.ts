import type { UnreadableTimestamps } from './admission.ts';
import { copyPiecesInSlices, sizeOfPieces } from './body-pieces.ts';
import { yieldToEventLoop } from './event-loop.ts';
import { BodyLimitError, MalformedBodyError } from './ingest-error.ts';
import { LIST_PART_CHARACTERS, LIST_PART_ITEMS } from './limits.ts';
import { decodeBatch, type PackedBatch, packBatch } from './log/record-body.ts';
import type { BodyForm } from './post-body.ts';
import type { AdmissionTarget, AdmittedPost, PostContents, PostedBody } from './post-decoding.ts';
import { formatOfName, nameOfFormat } from './wire/wire-formats.ts';

/** A request to the decoding thread: a call of the `PostDecoding` with this number. */
export type DecodingRequest =
  | { readonly call: 'begin'; readonly decoding: number; readonly posted: SentBody }
  | { readonly call: 'admit'; readonly decoding: number; readonly target: AdmissionTarget }
  | { readonly call: 'end'; readonly decoding: number };

/** An answer of the decoding thread. `end` has none. */
export type DecodingAnswer =
  | { readonly kind: 'begun'; readonly contents: SentContents }
  | { readonly kind: 'admitted'; readonly admitted: SentAdmitted }
  | SentFailure;

type SentBody =
  | { readonly pieces: readonly Uint8Array[]; readonly form: BodyForm }
  | (Omit<Extract<PostedBody, { mediaType: string }>, 'format'> & { readonly formatName: string });

/** A list as JSON texts of at most LIST_PART_ITEMS items each. */
type SentList = readonly string[];

type SentContents = Pick<PostContents, 'bodyAddress'> & {
  readonly addresses: SentList;
  /** Notes of formats whose notes are a list; `undefined` for all others. */
  readonly notes: SentList | undefined;
};

type SentAdmitted = {
  readonly batch: PackedBatch;
  readonly refusedEvents: Uint32Array<ArrayBuffer>;
  readonly reasons: readonly string[];
  readonly repaired: Uint32Array<ArrayBuffer>;
  readonly unreadableTimestamps: UnreadableTimestamps | undefined;
  readonly withoutProject: number;
  readonly bodySize: number;
};

/** An error without its class, which `postMessage` does not preserve. */
type SentFailure = {
  readonly kind: 'malformed' | 'limit' | 'bug';
  readonly message: string;
  readonly stack: string | undefined;
};

/** Joins the body to one buffer, which is transferred. */
export async function toSentBody(posted: PostedBody): Promise<{
  readonly body: SentBody;
  readonly transfer: readonly ArrayBuffer[];
}> {
  const whole = new Uint8Array(sizeOfPieces(posted.pieces));
  await copyPiecesInSlices(posted.pieces, whole);
  const pieces = [whole];
  const transfer = [whole.buffer];
  if (!('mediaType' in posted)) return { body: { pieces, form: posted.format }, transfer };
  const { format, ...others } = posted;
  return { body: { ...others, pieces, formatName: nameOfFormat(format) }, transfer };
}

export function fromSentBody(sent: SentBody): PostedBody {
  if ('form' in sent) return { pieces: sent.pieces, format: sent.form };
  const { formatName, ...others } = sent;
  return { ...others, format: formatOfName(formatName) };
}

export function toSentContents({ bodyAddress, addresses, notes }: PostContents): SentContents {
  return {
    bodyAddress,
    addresses: toSentList(addresses),
    notes: Array.isArray(notes) ? toSentList(notes) : undefined,
  };
}

/** Yields to the event loop between parts of lists. */
export async function fromSentContents(sent: SentContents): Promise<PostContents> {
  const addresses = (await fromSentList(sent.addresses)) as readonly (string | null)[];
  return {
    bodyAddress: sent.bodyAddress,
    addresses: addresses.map((address) => address ?? undefined),
    notes: sent.notes && (await fromSentList(sent.notes)),
  };
}

/** The result of `admit`, and the buffers to transfer. */
export function toSentAdmitted(admitted: AdmittedPost): {
  readonly admitted: SentAdmitted;
  readonly transfer: readonly ArrayBuffer[];
} {
  const { refusals, unreadableTimestamps, withoutProject, bodySize } = admitted;
  // In one piece, as what other arrays have in reserve would count for the garbage collector of the main thread.
  const batch = packBatch(admitted.batch);
  const refusedEvents = Uint32Array.from(refusals.events);
  const repaired = Uint32Array.from(admitted.repaired);
  const { reasons } = refusals;
  return {
    admitted: {
      ...{ batch, refusedEvents, reasons, repaired },
      ...{ unreadableTimestamps, withoutProject, bodySize },
    },
    transfer: [batch.data.buffer, refusedEvents.buffer, repaired.buffer],
  };
}

export function fromSentAdmitted(sent: SentAdmitted): AdmittedPost {
  const { batch, refusedEvents, reasons, repaired } = sent;
  const { unreadableTimestamps, withoutProject, bodySize } = sent;
  return {
    batch: decodeBatch(batch, batch.data),
    refusals: { events: Array.from(refusedEvents), reasons },
    repaired: Array.from(repaired),
    unreadableTimestamps,
    withoutProject,
    bodySize,
  };
}

export function toSentFailure(error: unknown): SentFailure {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  if (error instanceof MalformedBodyError) return { kind: 'malformed', message, stack };
  if (error instanceof BodyLimitError) return { kind: 'limit', message, stack };
  return { kind: 'bug', message, stack };
}

export function fromSentFailure({ kind, message, stack }: SentFailure): Error {
  if (kind === 'malformed') return new MalformedBodyError(message);
  if (kind === 'limit') return new BodyLimitError(message);
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}

/** Encodes a list in parts. `undefined` becomes `null`. */
function toSentList(list: readonly unknown[]): SentList {
  const parts: string[] = [];
  let texts: string[] = [];
  let length = 0;
  for (const item of list) {
    const text = JSON.stringify(item) ?? 'null';
    texts.push(text);
    length += text.length;
    if (texts.length < LIST_PART_ITEMS && length < LIST_PART_CHARACTERS) continue;
    parts.push(`[${texts.join()}]`);
    texts = [];
    length = 0;
  }
  if (texts.length > 0) parts.push(`[${texts.join()}]`);
  return parts;
}

async function fromSentList(sent: SentList): Promise<readonly unknown[]> {
  const list: unknown[] = [];
  for (const [index, part] of sent.entries()) {
    if (index > 0) await yieldToEventLoop();
    for (const item of JSON.parse(part) as readonly unknown[]) list.push(item);
  }
  return list;
}
