import type { AdmissionManners } from '../ingest/admission.ts';
import {
  type TellFailure,
  tellFailedCallLikeContainer,
  tellFailure,
  tellFailureLikeContainer,
} from './http/failure.ts';
import { CONTAINER_SOURCE_LIST, SOURCE_LIST, type SourceListForm } from './http/source-list.ts';
import { HEADERS_BYTES_MAX, HEADERS_WITH_SQL_BYTES_MAX } from './limits.ts';
import { CONTAINER_FAILURE_SCHEMAS, FAILURE_SCHEMAS } from './openapi/failure-schemas.ts';
import type { FailureSchemas } from './openapi/operation-text.ts';

export const PROFILE_NAMES = ['default', 'supabase'] as const;

export type ProfileName = (typeof PROFILE_NAMES)[number];

/**
 * How the service behaves where its clients differ: weir's own clients, or those of a self-hosted
 * Supabase stack, which expect the analytics container. A plain value that the routes read; the
 * code below them never asks for the profile's name.
 */
export type Profile = {
  readonly name: ProfileName;
  /** Bytes of one request's headers, its URL among them. */
  readonly headersBytesMax: number;
  /** How failures are reported, in general and for calls and definitions. */
  readonly tellFailure: TellFailure;
  readonly tellFailedCall: TellFailure;
  /** The schemas of both kinds of failures. */
  readonly failureSchemas: FailureSchemas;
  readonly sourceList: SourceListForm;
  /** Members that `/health` of a ready service adds. */
  readonly healthMembers: object;
  /** Changes that are made to events as they arrive. */
  readonly admission: AdmissionManners;
};

const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  default: {
    name: 'default',
    headersBytesMax: HEADERS_BYTES_MAX,
    tellFailure,
    tellFailedCall: tellFailure,
    failureSchemas: FAILURE_SCHEMAS,
    sourceList: SOURCE_LIST,
    healthMembers: {},
    admission: {},
  },
  supabase: {
    name: 'supabase',
    headersBytesMax: HEADERS_WITH_SQL_BYTES_MAX,
    tellFailure: tellFailureLikeContainer,
    tellFailedCall: tellFailedCallLikeContainer,
    failureSchemas: CONTAINER_FAILURE_SCHEMAS,
    sourceList: CONTAINER_SOURCE_LIST,
    // The process stays within MEMORY_LIMIT by itself, and refuses posts before it exceeds it.
    healthMembers: { nodes_count: 1, memory_utilization: 'ok' },
    admission: { isSingleAnonymous: true, requestUrlSource: 'cloudflare.logs.prod' },
  },
};

export function getProfile(name: ProfileName): Profile {
  return PROFILES[name];
}
