import { ANSWER_FORMATS } from '../call/answer-format.ts';
import { type CommandWords, type CommandWorld, UsageError } from './command.ts';
import { parseCsvText } from './csv-text.ts';
import type { ServiceAnswer } from './service-client.ts';
import { tableText } from './text-table.ts';

/** The requested format, if there is one. */
export function findFormat(words: CommandWords): string | undefined {
  const asked = ANSWER_FORMATS.filter(({ name }) => words.has(name));
  if (asked.length <= 1) return asked[0]?.name;
  const options = asked.map(({ name }) => `--${name}`).join(' and ');
  throw new UsageError(`an answer has one form; got ${options}`);
}

/**
 * Writes an answer as it is in the requested format; without one, an answer in CSV as a table. Says on standard error if
 * `max_rows` cut it.
 */
export function showAnswer(
  { text, truncatedTo }: Pick<ServiceAnswer, 'text' | 'truncatedTo'>,
  format: string | undefined,
  world: CommandWorld,
): void {
  if (format !== undefined) world.out(text === '' || text.endsWith('\n') ? text : `${text}\n`);
  else {
    const { names, rows } = parseCsvText(text);
    const count = `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}`;
    world.out(`${tableText(names, rows)}\n${count}\n`);
  }
  if (truncatedTo !== undefined) {
    world.err(`max_rows cut the answer: these are its first ${truncatedTo} rows\n`);
  }
}
