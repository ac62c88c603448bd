import { formatPatch, OMIT_HEADERS, structuredPatch } from 'diff';
import { DIFF_LINES_MAX } from '../limits.ts';
import { shownText } from '../shown-text.ts';
import { sentText } from './definition-copy.ts';
import type { SideChange } from './side-comparison.ts';

/** Formats a change as a unified diff, with characters escaped that a terminal would interpret. */
export function changeText({ before, after }: SideChange): string {
  const left = before?.fileText ?? '';
  const right = after === undefined ? '' : sentText(after);
  const lines = [
    `--- ${before?.place ?? '/dev/null'}`,
    `+++ ${after?.place ?? '/dev/null'}`,
    ...hunkLines(left, right),
  ];
  return lines.map((line) => `${line.split('\t').map(shownText).join('\t')}\n`).join('');
}

function hunkLines(left: string, right: string): readonly string[] {
  const options = { context: CONTEXT_LINES, maxEditLength: DIFF_LINES_MAX };
  const patch = structuredPatch('', '', left, right, undefined, undefined, options);
  if (patch !== undefined) return splitLines(formatPatch(patch, OMIT_HEADERS));
  const [removed, added] = [splitLines(left), splitLines(right)];
  return [
    `@@ -1,${removed.length} +1,${added.length} @@`,
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
  ];
}

/** The default of `diff -u`. */
const CONTEXT_LINES = 3;

/** The lines of a text, whether its last line is terminated or not. */
function splitLines(text: string): readonly string[] {
  return text.replace(/\n$/, '').split('\n');
}
