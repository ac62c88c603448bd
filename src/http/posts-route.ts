import { COUNT, describeList, describeObject, STRING, TIME } from '../openapi/schemas.ts';
import type { LogIntake } from '../store/log-intake.ts';
import { FINDING_CODES, type Finding, findReasons } from '../watch/findings.ts';
import type { PostHistory } from '../watch/post-history.ts';
import { FLAW_KINDS, type PostAnswer, type PostReport } from '../watch/post-report.ts';
import { sendJson } from './response.ts';
import type { Access, GuardedOperation, Route } from './route.ts';

const MANAGING: Access = { scope: 'manage', tokenIn: 'headers' };

/** Reports what became of the posts of each token at each receiver. */
export function postsRoute(posts: PostHistory, intake: LogIntake): Route {
  const operation: GuardedOperation = {
    summary: 'See the results of posts',
    description:
      'For each token and receiver since the service started: the last answer, the last stored event, and why events may not be found.',
    tag: 'watching',
    answers: {
      200: {
        description: 'The sender that posted last comes first',
        content: { 'application/json': { schema: SCHEMA } },
      },
    },
    access: MANAGING,
    handle: (_request, response) => {
      const reports = posts.list();
      const since = new Date(posts.sinceMs).toISOString();
      const findings: readonly Finding[] =
        reports.length > 0
          ? []
          : [{ code: 'no_posts', message: `no post has arrived since ${since}` }];
      const result = reports.map((report) => ({
        ...toJson(report),
        findings: findReasons(report, (name) => intake.findSource(name)),
      }));
      sendJson(response, 200, { result, since, findings });
    },
  };
  return { path: '/api/posts', operations: { GET: operation } };
}

function toJson(report: PostReport): object {
  const { sender, last, lastRefusal, lastEvent, flaws } = report;
  return {
    token: sender.token ?? null,
    receiver: sender.receiver,
    posts: report.posts,
    refused_posts: report.refusedPosts,
    stored_events: report.storedEvents,
    last: last && answerJson(last),
    last_refusal: lastRefusal && answerJson(lastRefusal),
    last_event: lastEvent && {
      source: lastEvent.source,
      project: lastEvent.project,
      id: lastEvent.id,
      timestamp: lastEvent.timestampUs,
      stored_at: new Date(lastEvent.storedMs).toISOString(),
    },
    flawed_events: Object.fromEntries(
      FLAW_KINDS.map((kind) => [kind, flaws.get(kind)?.count ?? 0]),
    ),
  };
}

function answerJson({ atMs, status, code, message, from }: PostAnswer): object {
  return { at: new Date(atMs).toISOString(), status, code, message, from };
}

const FINDINGS = describeList(describeObject({ code: { enum: FINDING_CODES }, message: STRING }));
const ANSWER = describeObject(
  { at: TIME, status: COUNT, code: STRING },
  { message: STRING, from: { ...STRING, description: 'The address of the connection' } },
);

const SCHEMA = describeObject({
  since: TIME,
  findings: FINDINGS,
  result: describeList(
    describeObject(
      {
        token: {
          anyOf: [describeObject({ id: STRING, name: STRING }), { type: 'null' }],
          description: 'null if the token was missing or wrong',
        },
        receiver: STRING,
        posts: COUNT,
        refused_posts: COUNT,
        stored_events: COUNT,
        flawed_events: describeObject(
          Object.fromEntries(FLAW_KINDS.map((kind) => [kind, COUNT] as const)),
        ),
        findings: FINDINGS,
      },
      {
        last: ANSWER,
        last_refusal: ANSWER,
        last_event: describeObject(
          { source: STRING, id: STRING, timestamp: { type: 'integer' }, stored_at: TIME },
          { project: STRING },
        ),
      },
    ),
  ),
});
