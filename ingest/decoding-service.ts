import { getPriority, setPriority } from 'node:os';
import type { MessagePort, TransferListItem } from 'node:worker_threads';
import { must } from '../engine/columns.ts';
import {
  type DecodingAnswer,
  type DecodingRequest,
  fromSentBody,
  toSentAdmitted,
  toSentContents,
  toSentFailure,
} from './decoding-message.ts';
import { DECODING_NICE } from './limits.ts';
import { type DecodingOptions, LocalDecoding } from './post-decoding.ts';

/** The greatest nice value. */
const NICE_MAX = 19;

/** Serves a `DecodingThread` from within the worker thread. Requests come one at a time. */
export function serveDecoding(port: MessagePort, options: DecodingOptions): void {
  lowerPriority();
  const decodings = new Map<number, LocalDecoding>();
  const getDecoding = (number: number): LocalDecoding =>
    must(decodings.get(number), 'a decoding begins before its other calls');
  const send = (answer: DecodingAnswer, transfer: readonly TransferListItem[] = []): void =>
    port.postMessage(answer, transfer);

  const answer = async (request: DecodingRequest): Promise<void> => {
    const { call, decoding: number } = request;
    if (call === 'begin') {
      const decoding = new LocalDecoding(fromSentBody(request.posted), options);
      decodings.set(number, decoding);
      send({ kind: 'begun', contents: toSentContents(await decoding.begin()) });
    } else if (call === 'admit') {
      const { admitted, transfer } = toSentAdmitted(
        await getDecoding(number).admit(request.target),
      );
      send({ kind: 'admitted', admitted }, transfer);
    } else {
      getDecoding(number).end();
      decodings.delete(number);
    }
  };

  port.on('message', (request: DecodingRequest) => {
    answer(request).catch((error: unknown) => send(toSentFailure(error)));
  });
}

/** The main thread gets a processor first. Linux has a nice value for each thread (setpriority(2)), others for a process. */
function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(Math.min(getPriority() + DECODING_NICE, NICE_MAX));
}
