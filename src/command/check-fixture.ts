import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { MalformedBodyError } from '../../ingest/ingest-error.ts';
import { MemoryPool } from '../../ingest/memory-pool.ts';
import { systemReason } from '../../ingest/system-reason.ts';
import { JsonReader } from '../../ingest/wire/json-reader.ts';
import { parseIsoTimestampUs } from '../definition/iso-timestamp.ts';
import { echo, echoValue } from '../echo.ts';

/** Extensions of the files that belong to `NAME.sql`. */
export const EVENTS_ENDING = '.events.ndjson';
export const EXPECT_ENDING = '.expect.json';

/** One line of `NAME.events.ndjson`: `{"source": "postgres.logs", "event": {…}}`. */
export type FixtureEvent = {
  readonly line: number;
  readonly source: string;
  /** The text as it is written, so that no digit is lost. */
  readonly event: string;
};

/** The expected result of a call: rows, or the code of a failure. */
export type ExpectedCall = {
  readonly parameters: Readonly<Record<string, string>>;
  readonly rows?: readonly unknown[] | undefined;
  readonly error?: string | undefined;
};

/** `NAME.expect.json`. */
export type Expectation = { readonly nowUs: number; readonly calls: readonly ExpectedCall[] };

/** The error for an invalid file. */
export class FixtureError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'FixtureError';
  }
}

/** Says of a value that is not `what`, or that has keys that it may not have, what it is. */
function mustBe(what: string) {
  const error = ({
    input,
    keys,
  }: {
    readonly input?: unknown;
    readonly keys?: readonly string[];
  }): string => {
    const got = keys === undefined ? echoValue(input) : `the key ${keys.map(echo).join(', ')}`;
    return `must be ${what}; got ${got}`;
  };
  return { error };
}

const PARAMETER_VALUE = z.union(
  [z.string(), z.number(), z.boolean()],
  mustBe('a text, a number or a boolean'),
);
const ROW = z.record(z.string(), z.unknown(), mustBe('a row such as {"errors": 2}'));

const CALL = z
  .strictObject(
    {
      parameters: z
        .record(z.string(), PARAMETER_VALUE, mustBe('a map such as {"project": "alpha"}'))
        .default({}),
      rows: z.array(ROW, mustBe('a list of rows')).optional(),
      error: z.string(mustBe('the code of an error')).optional(),
    },
    mustBe('a map with any of parameters, rows and error'),
  )
  .refine(({ rows, error }) => (rows === undefined) !== (error === undefined), {
    error: 'must have either rows or error',
  });

const CALLS_TEXT = 'a list of one call at least';

const EXPECT_SCHEMA = z.strictObject(
  {
    now: z.string(mustBe('an ISO 8601 time such as 2026-01-15T12:00:00Z')),
    calls: z.array(CALL, mustBe(CALLS_TEXT)).min(1, mustBe(CALLS_TEXT)),
  },
  mustBe('a map with now and calls'),
);

/** @throws FixtureError */
export async function readExpectation(path: string): Promise<Expectation> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    throw new FixtureError(`must be JSON; ${systemReason(cause)}`, cause);
  }
  const parsed = EXPECT_SCHEMA.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.join('.') ?? '';
    throw new FixtureError(`${place} ${issue?.message}`.trimStart());
  }
  const { now, calls } = parsed.data;
  const nowUs = parseIsoTimestampUs(now);
  if (typeof nowUs !== 'number') {
    throw new FixtureError(
      `now must be an ISO 8601 time such as 2026-01-15T12:00:00Z; got ${echo(now)}`,
    );
  }
  return {
    nowUs,
    calls: calls.map(({ parameters, ...call }) => ({
      ...call,
      parameters: Object.fromEntries(
        Object.entries(parameters).map(([name, text]) => [name, String(text)]),
      ),
    })),
  };
}

/**
 * Reads the events of a file, in order.
 *
 * @throws FixtureError
 */
export async function readEvents(path: string): Promise<readonly FixtureEvent[]> {
  const text = await readFile(path, 'utf8').catch((cause: unknown): never => {
    throw new FixtureError(`must be a file that can be read: ${systemReason(cause)}`, cause);
  });
  const pool = new MemoryPool(0);
  return text.split('\n').flatMap((lineText, index) => {
    if (lineText.trim() === '') return [];
    const line = index + 1;
    const memory = pool.lend();
    try {
      return [{ line, ...readEvent(new JsonReader([Buffer.from(lineText)], { memory }), line) }];
    } catch (error) {
      if (!(error instanceof MalformedBodyError)) throw error;
      throw new FixtureError(`line ${line}: ${error.message}`, error);
    } finally {
      memory.end();
    }
  });
}

/** The event's text is a copy, so that it retains none of the reader's buffer. */
function readEvent(reader: JsonReader, line: number): { source: string; event: string } {
  let source: string | undefined;
  let event: string | undefined;
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    if (key === 'source') source = reader.text();
    else if (key === 'event') event = reader.json();
    else {
      throw new FixtureError(`line ${line} may have the keys source and event; got ${echo(key)}`);
    }
  }
  reader.endText();
  if (source !== undefined && event !== undefined) return { source, event };
  throw new FixtureError(`line ${line} must have the keys source and event; one is missing`);
}
