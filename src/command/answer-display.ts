import { ANSWER_FORMATS } from '../call/answer-format.ts';
import { type CommandWords, type CommandWorld, UsageError } from './command.ts';
import { parseCsvText } from './csv-text.ts';
import { tableText } from './text-table.ts';

/** The requested format, if there is one. */
export function findFormat(words: CommandWords): string | undefined {
  const asked = ANSWER_FORMATS.filter(({ name }) => words.has(name));
  if (asked.length <= 1) return asked[0]?.name;
  const options = asked.map(({ name }) => `--${name}`).join(' and ');
  throw new UsageError(`an answer has one form; got ${options}`);
}

/** Writes an answer as it is in the requested format; without one, an answer in CSV as a table. */
export function showAnswer(text: string, format: string | undefined, world: CommandWorld): void {
  if (format !== undefined) {
    world.out(text === '' || text.endsWith('\n') ? text : `${text}\n`);
    return;
  }
  const { names, rows } = parseCsvText(text);
  world.out(`${tableText(names, rows)}\n${rows.length} ${rows.length === 1 ? 'row' : 'rows'}\n`);
}
