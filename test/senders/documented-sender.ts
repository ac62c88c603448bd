import { runInNewContext } from 'node:vm';
import { must } from '../../engine/assert.ts';
import { readText } from '../support/source-files.ts';
import type { Target } from './sender.ts';

/** What docs/ingest.md says of a sender that was tried. */
export type DocumentedSender = {
  readonly version: string;
  /** The path that it posts to. */
  readonly door: string;
  /** In the form of the sender; that of a daemon stands below the table. */
  readonly configuration: string;
};

const PAGE = readText('docs/ingest.md');

/** A program as the table of senders has it. */
export function documentedSender(program: string): DocumentedSender {
  const [, table] = must(
    /^\| sender \|.*\n\|[-| ]+\|\n((?:\|.*\n)+)/m.exec(PAGE),
    'docs/ingest.md has a table that begins | sender |',
  );
  for (const row of must(table).trim().split('\n')) {
    const [, senders, door, configuration] = row.split('|').map((cell) => cell.trim());
    for (const sender of must(senders).split(', ')) {
      const [name, version] = sender.split(' ');
      if (name !== program) continue;
      return { version: must(version), door: code(door), configuration: must(configuration) };
    }
  }
  throw new Error(`docs/ingest.md has no row of ${program} in its table of senders`);
}

/** The options that a program of npm is given, as the table has them, for a target of one's own. */
export function documentedOptions(program: string, target: Target): object {
  const text = code(documentedSender(program).configuration);
  const url = `http://127.0.0.1:${target.port}`;
  // The page is ours: what is read here is a literal of an object.
  return runInNewContext(`(${forTarget(text.replaceAll(/\bURL\b/g, url), target)})`) as object;
}

/** The configuration of a daemon in which a text stands, for a target of one's own. */
export function documentedConfiguration(text: string, target: Target): string {
  const blocks = Array.from(PAGE.matchAll(/^```conf\n([\s\S]*?)^```$/gm), ([, block]) => block!);
  const block = must(
    blocks.find((each) => each.includes(text)),
    `docs/ingest.md has a configuration with ${text}`,
  );
  return forTarget(block, target);
}

function forTarget(text: string, { port, token, source, project }: Target): string {
  return text
    .replaceAll(/(?<=127\.0\.0\.1:|port: |serverport=")(?:4000|4317)\b/g, String(port))
    .replaceAll('…', token)
    .replaceAll('app.logs', source)
    .replaceAll('alpha', project);
}

function code(cell: string | undefined): string {
  const [, text] = must(/^`([^`]+)`$/.exec(cell ?? ''), `a cell must be code; got ${cell}`);
  return must(text);
}
