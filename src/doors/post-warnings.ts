import type { UnreadableTimestamps } from '../../ingest/admission.ts';
import { formatProjectRule } from '../../ingest/source.ts';
import type { TransportResponse } from '../http/transport.ts';
import { setWarnings, WARNINGS_HEADER } from '../http/warnings.ts';
import type { Alterations, EventsWithoutProject } from '../store/log-intake.ts';

/** Describes the warnings for the answers of posts. */
export const WARNINGS_TEXT: Readonly<Record<string, string>> = {
  [WARNINGS_HEADER]: 'Events that were changed or belong to no project, if there are any',
};

/**
 * Warns the sender of events that were changed, and of events that no query of a project will find.
 * Sends nothing without warnings.
 */
export function tellWarnings(
  response: Pick<TransportResponse, 'setHeader'>,
  { repaired, unreadableTimestamps }: Alterations,
  withoutProject: readonly EventsWithoutProject[],
): void {
  setWarnings(response, [
    ...repairWarnings(repaired),
    ...timestampWarnings(unreadableTimestamps),
    ...projectWarnings(withoutProject),
  ]);
}

/**
 * Warns of events without a project, and says where the project is looked for: one sentence for
 * each source, up to a limit.
 */
function projectWarnings(withoutProject: readonly EventsWithoutProject[]): readonly string[] {
  const told = withoutProject.slice(0, SOURCES_WARNED_OF_MAX);
  const rest = withoutProject.length - told.length;
  const sentences = told.map(({ source, count }) => {
    const events = count === 1 ? '1 event names' : `${count} events name`;
    return `${events} no project: the source ${source.name} expects it in the field ${formatProjectRule(source)}`;
  });
  return rest === 0 ? sentences : [...sentences, `so do events of ${rest} more sources`];
}

/** A bulk may have events for all sources there are, and many clients take headers of 16 KiB at most. */
const SOURCES_WARNED_OF_MAX = 5;

/** That events have U+FFFD in place of bytes that were not UTF-8: a sentence, or none. */
function repairWarnings(repaired: readonly number[]): readonly string[] {
  if (repaired.length === 0) return [];
  let first = Number.POSITIVE_INFINITY;
  for (const event of repaired) first = Math.min(first, event);
  const events =
    repaired.length === 1
      ? `event ${first}`
      : `${repaired.length} events, the first of them event ${first}`;
  return [`bytes that are not UTF-8 were replaced by U+FFFD in ${events}`];
}

/** That events have the time of their arrival, and the text that was to be their time: a sentence, or none. */
function timestampWarnings(found: UnreadableTimestamps | undefined): readonly string[] {
  if (found === undefined) return [];
  const { count, firstText } = found;
  const events = count === 1 ? '1 event' : `${count} events`;
  const first = count === 1 ? 'it is' : 'the first is';
  return [
    `the timestamp of ${events} cannot be read and is kept as timestamp_text, ${first} ${quoted(firstText)}`,
  ];
}

/** Writes JSON in ASCII, which is all that a header may hold. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
