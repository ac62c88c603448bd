import { formatProjectRule, type Source } from '../../ingest/source.ts';
import { echo } from '../echo.ts';
import { FAR_TIMESTAMP_MS } from '../limits.ts';
import type { FlawKind, PostReport } from './post-report.ts';

/** Stable; the sentences beside them are not. */
export const FINDING_CODES = [
  'no_posts',
  'last_post_refused',
  'posts_refused',
  'events_refused',
  'events_without_project',
  'timestamps_unreadable',
  'timestamp_far',
  'events_repaired',
] as const;

/** A reason why somebody does not see their logs, or not as they sent them. */
export type Finding = { readonly code: (typeof FINDING_CODES)[number]; readonly message: string };

/** What a person should know of the posts of one sender, the most important first. */
export function findReasons(
  report: PostReport,
  findSource: (name: string) => Source | undefined,
): readonly Finding[] {
  return [...refusedPosts(report), ...flaws(report, findSource), ...farTimestamp(report.lastEvent)];
}

function refusedPosts(report: PostReport): readonly Finding[] {
  const { last, lastRefusal, posts, refusedPosts: count } = report;
  if (lastRefusal === undefined) return [];
  const { status, code, message = '' } = lastRefusal;
  const answer = `${status} ${code}: ${message}`;
  if (last === lastRefusal) {
    return [{ code: 'last_post_refused', message: `the last post was answered with ${answer}` }];
  }
  const at = new Date(lastRefusal.atMs).toISOString();
  const sentence = `${count} of ${posts} posts were refused, the last at ${at} with ${answer}`;
  return [{ code: 'posts_refused', message: sentence }];
}

function flaws(
  { flaws: found }: PostReport,
  findSource: (name: string) => Source | undefined,
): readonly Finding[] {
  const sentence = (kind: FlawKind, write: (events: string, example: string) => Finding) => {
    const flaw = found.get(kind);
    if (flaw === undefined) return [];
    return [write(flaw.count === 1 ? '1 event' : `${flaw.count} events`, flaw.example)];
  };
  return [
    ...sentence('refused', (events, reason) => ({
      code: 'events_refused',
      message: `${events} refused, for example: ${reason}`,
    })),
    ...sentence('without_project', (events, name) => {
      const source = findSource(name);
      const field = source === undefined ? 'of its project rule' : formatProjectRule(source);
      return {
        code: 'events_without_project',
        message: `${events} stored in ${name} without a project in the field ${field}: queries of a project do not find them`,
      };
    }),
    ...sentence('unreadable_timestamp', (events, text) => ({
      code: 'timestamps_unreadable',
      message: `${events} with an unreadable timestamp, such as ${echo(text)}: they have the time of receipt`,
    })),
    ...sentence('repaired', (events, name) => ({
      code: 'events_repaired',
      message: `${events} of ${name} with bytes that are not UTF-8: these bytes were replaced by U+FFFD`,
    })),
  ];
}

function farTimestamp(event: PostReport['lastEvent']): readonly Finding[] {
  if (event === undefined) return [];
  const aheadMs = event.timestampUs / 1e3 - event.storedMs;
  if (Math.abs(aheadMs) < FAR_TIMESTAMP_MS) return [];
  const where = aheadMs > 0 ? 'after' : 'before';
  const hours = (Math.abs(aheadMs) / 3_600_000).toFixed(1);
  const message = `the timestamp of the last event is ${hours} hours ${where} its arrival: choose a time range that includes it`;
  return [{ code: 'timestamp_far', message }];
}
