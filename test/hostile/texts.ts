import type { HostileText } from './text-shapes.ts';
import { COLUMNS, GROUPINGS } from './texts-of-columns.ts';
import { EXPRESSIONS } from './texts-of-expressions.ts';
import { SUBQUERIES, TABLES } from './texts-of-tables.ts';
import { FUNCTIONS, TOKENS } from './texts-of-words.ts';

/** A definition whose tables the texts read. */
export const HOSTILE_SANDBOX = `-- id: 00000000-0000-4000-8000-0000000000aa
-- name: hostile.any
-- sandbox: enabled
-- param: project string default=alpha
WITH
entries AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata
  FROM \`postgres.logs\` AS t
  WHERE t.project = @project
  ORDER BY t.timestamp DESC
),
details AS (SELECT e.id, m.level AS level FROM entries AS e CROSS JOIN UNNEST(e.metadata) AS m)
SELECT id FROM entries
`;

/** The text with the largest count that has at most so many characters. */
export function largestText({ withCount }: HostileText, lengthMax: number): string {
  return withCount(largestCount((count) => withCount(count).length <= lengthMax));
}

/** Of what a text may have, more than the longest has characters: some count by a number, which hardly makes them longer. */
const COUNT_MAX = 65_536;

/** The largest count up to COUNT_MAX that is such, where all smaller ones are, too; 1 where none is. */
export function largestCount(isSuch: (count: number) => boolean): number {
  let tooLarge = 2;
  while (tooLarge <= COUNT_MAX && isSuch(tooLarge)) tooLarge *= 2;
  let largest = tooLarge / 2;
  while (tooLarge - largest > 1) {
    const count = (largest + tooLarge) >>> 1;
    if (isSuch(count)) largest = count;
    else tooLarge = count;
  }
  return largest;
}

export const HOSTILE_TEXTS: readonly HostileText[] = [
  ...EXPRESSIONS,
  ...TOKENS,
  ...COLUMNS,
  ...GROUPINGS,
  ...TABLES,
  ...SUBQUERIES,
  ...FUNCTIONS,
];
