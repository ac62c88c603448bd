import type { MessagePort, TransferListItem } from 'node:worker_threads';
import { must } from '../engine/assert.ts';
import {
  type DecodingAnswer,
  type DecodingRequest,
  postedBodyOf,
  sentAdmittedOf,
  sentContentsOf,
  sentFailureOf,
} from './decoding-message.ts';
import { type DecodingOptions, LocalDecoding } from './post-decoding.ts';

/** Serves a `DecodingThread` from within the worker thread. Requests come one at a time. */
export function serveDecoding(port: MessagePort, options: DecodingOptions): void {
  const decodings = new Map<number, LocalDecoding>();
  const decodingOf = (number: number): LocalDecoding =>
    must(decodings.get(number), 'a decoding begins before its other calls');
  const send = (answer: DecodingAnswer, transfer: readonly TransferListItem[] = []): void =>
    port.postMessage(answer, transfer);

  const answer = async (request: DecodingRequest): Promise<void> => {
    const { call, decoding: number } = request;
    if (call === 'begin') {
      const decoding = new LocalDecoding(postedBodyOf(request.posted), options);
      decodings.set(number, decoding);
      send({ kind: 'begun', contents: sentContentsOf(await decoding.begin()) });
    } else if (call === 'admit') {
      const { admitted, transfer } = sentAdmittedOf(await decodingOf(number).admit(request.target));
      send({ kind: 'admitted', admitted }, transfer);
    } else {
      decodingOf(number).end();
      decodings.delete(number);
    }
  };

  port.on('message', (request: DecodingRequest) => {
    answer(request).catch((error: unknown) => send(sentFailureOf(error)));
  });
}
