import { refusalSentences } from '../../ingest/admission.ts';
import { BODY_BYTES_MAX } from '../../ingest/limits.ts';
import { findEntriesEnd, journalExport } from '../../ingest/wire/journal-export.ts';
import { authorizeDefaultSource } from '../access/grant.ts';
import { toTenant } from '../access/tenant.ts';
import type { TellFailure } from '../http/failure.ts';
import { readMediaType } from '../http/media-type.ts';
import { sendBytes } from '../http/response.ts';
import type { GuardedOperation, Route } from '../http/route.ts';
import { POST_TEXT } from '../openapi/post-text.ts';
import { STRING } from '../openapi/schemas.ts';
import type { StoredLogs } from '../store/log-intake.ts';
import { identifySender } from '../watch/post-history.ts';
import type { DoorOptions } from './door.ts';
import { PartReports } from './part-reports.ts';
import { findAddress, mustFindSource, sourceOfToken } from './post-address.ts';
import { tellWarnings, WARNINGS_TEXT } from './post-warnings.ts';

const JOURNAL_TYPE = 'application/vnd.fdo.journal';
const TEXT_TYPE = 'text/plain; charset=utf-8';

const tellFailure: TellFailure = ({ status, message }) => ({
  status,
  contentType: TEXT_TYPE,
  body: Buffer.from(message),
});

/**
 * What systemd-journal-upload posts to, in place of systemd-journal-remote. One post holds all entries that there are, up
 * to a whole journal, so it is stored in parts while it arrives. The program ends after any other answer than a success,
 * and begins again with the first entry of the post. So a post with some refused entries gets 202, and lists them.
 */
export function journalRoute(options: DoorOptions, ended: Route['ended']): Route {
  const store: GuardedOperation = {
    ...POST_TEXT,
    summary: 'Store entries of the systemd journal',
    body: {
      isRequired: false,
      isPlain: true,
      content: {
        [JOURNAL_TYPE]: {
          schema: STRING,
          example: '__REALTIME_TIMESTAMP=1768478100000000\nPRIORITY=6\nMESSAGE=order made\n\n',
        },
      },
    },
    answers: {
      202: {
        description: 'Stored; the lines after the first list the refused entries, if any',
        headers: WARNINGS_TEXT,
        content: { 'text/plain': { schema: STRING } },
      },
    },
    access: { scope: 'ingest', tokenIn: 'password' },
    handle: journalHandler(options),
  };
  return {
    path: '/upload',
    operations: { POST: store },
    tellFailure,
    failureSchemas: { 'text/plain': () => STRING },
    ended,
  };
}

function journalHandler({
  intake,
  bodies,
  clock,
  quotas,
  posts,
  defaultSource,
}: DoorOptions): GuardedOperation['handle'] {
  return async (request, response, { grant, query }) => {
    const address = findAddress(query, request);
    const source =
      address === undefined
        ? (sourceOfToken(intake, grant) ?? defaultSource)
        : mustFindSource(intake, address, grant);
    authorizeDefaultSource(grant, source);
    readMediaType(request.headers['content-type'], [JOURNAL_TYPE]);
    const check = (): void => {
      quotas?.check(grant);
      intake.check(source);
    };
    const { headers } = request;
    const storePart = async (pieces: readonly Uint8Array[]): Promise<StoredLogs> => {
      const nowUs = clock.nowUs();
      const body = {
        pieces,
        format: journalExport,
        mediaType: JOURNAL_TYPE,
        headers,
        query,
        nowUs,
      };
      const post = await intake.decode(body, () => response.destroyed);
      try {
        return await post.store(source, {
          nowUs,
          projects: grant.projects,
          onStored: (stored) => quotas?.count(grant, stored),
        });
      } finally {
        post.end();
      }
    };
    const reports = new PartReports();
    const terms = { bytesMax: BODY_BYTES_MAX, tenant: toTenant(grant), check };
    await bodies.useParts(
      request,
      response,
      { ...terms, findEnd: findEntriesEnd },
      async (part) => {
        const stored = await storePart(part);
        posts.addStored(identifySender(request, grant), source, stored);
        reports.add(stored);
      },
    );
    tellWarnings(response, reports, reports.withoutProject);
    const lines = ['OK.', ...refusalSentences(reports.refusals)];
    sendBytes(response, 202, TEXT_TYPE, [Buffer.from(lines.join('\n'))]);
  };
}
