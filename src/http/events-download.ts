import type { Response } from 'express';
import type { Source } from '../../ingest/source.ts';
import type { Grant } from '../access/grant.ts';
import { toTenant } from '../access/tenant.ts';
import type { AnswerFormat } from '../call/answer-format.ts';
import { CsvRewriter } from '../call/csv-rewriter.ts';
import type { NamedRun } from '../call/named-runs.ts';
import { NdjsonRewriter } from '../call/ndjson-rewriter.ts';
import type { RowsRewriter } from '../call/rows-rewriter.ts';
import { ServiceError } from '../errors.ts';
import { walkEvents } from '../explore/event-walk.ts';
import type { ExploreRequest } from '../explore/explore-request.ts';
import { LIST_COLUMNS } from '../explore/explore-sql.ts';
import { AnswerWriter } from './answer-writer.ts';
import { writePieces } from './call-answer.ts';
import { createTools } from './explore-route.ts';
import { lostDaysWarnings } from './lost-days-warning.ts';
import { goneSignal } from './read-call.ts';
import type { RouteOptions } from './routes.ts';
import { setWarnings } from './warnings.ts';

/** Which events are sent, and for whom. */
type EventsDownload = {
  readonly run: NamedRun;
  readonly grant: Grant;
  readonly format: AnswerFormat;
  readonly explored: ExploreRequest;
  readonly source: Source;
};

/**
 * Sends all events that match, page by page, at the rate of the caller. It holds the memory of one page at a time. A failure
 * after the first page breaks the connection off, so that no file looks complete that is not.
 */
export async function sendEvents(
  response: Response,
  { run, grant, format, explored, source }: EventsDownload,
  parts: RouteOptions,
): Promise<void> {
  const { answers, tokens, turns } = parts;
  const tenant = toTenant(grant);
  const writer = new AnswerWriter(response, { turns, tenant });
  const signal = goneSignal(response, run.cancelled);
  let releasePage = (): void => {};
  const hold = (bytes: number): void => {
    releasePage = answers.take(bytes, tenant);
  };
  const { progress } = run;
  const tools = createTools({ ...parts, grant, signal, hold, progress });
  try {
    for await (const { json, rowCount, share, lostDays } of walkEvents(explored, source, tools)) {
      if (response.destroyed) return;
      const isFirst = !response.headersSent;
      // A download may take longer than its token is in force.
      if (!isFirst && !tokens.stillGrants(grant)) {
        throw new ServiceError('unauthorized', 'the access token is revoked or has expired');
      }
      if (isFirst) {
        response.setHeader('Content-Type', format.contentType);
        setWarnings(response, lostDaysWarnings(lostDays));
        response.flushHeaders();
        run.notePages({ rowCount: 0, share: 0 });
      }
      await writePieces(response, writer, rewrite(json, format, isFirst));
      run.notePages({ rowCount, share });
      releasePage();
      releasePage = () => {};
    }
    response.end();
  } finally {
    releasePage();
  }
}

function rewrite(json: Uint8Array, format: AnswerFormat, isFirst: boolean): RowsRewriter {
  if (format.name === 'ndjson') return new NdjsonRewriter(json);
  const rewriter = new CsvRewriter(json, LIST_COLUMNS);
  return isFirst ? rewriter : rewriter.withoutHeader();
}
