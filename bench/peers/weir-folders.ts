import { join } from 'node:path';
import { pathInRepository } from '../../test/support/source-files.ts';
import { FLOATS_SOURCE, type Kind } from '../workload/workload.ts';

/** Full edge events are of the same source as the lean ones, so they have a service of their own. */
export type WeirPart = 'full' | 'others';

export const WEIR_PARTS: readonly WeirPart[] = ['others', 'full'];

export function partOf(kind: Kind): WeirPart {
  return kind === 'full' ? 'full' : 'others';
}

export function dataDirOf(folder: string, part: WeirPart): string {
  return join(folder, 'weir', part);
}

const DEFINITIONS_DIR = pathInRepository('bench/peers/definitions');

/** Of every service and engine that is measured here. */
export const WEIR_ENVIRONMENT: Readonly<Record<string, string>> = {
  SOURCES: FLOATS_SOURCE,
  ENDPOINTS_DIR: DEFINITIONS_DIR,
  CACHE_LIMIT: '0',
};
