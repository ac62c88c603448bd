import { ADDRESS_KEYS } from '../../ingest/known-key.ts';
import { ADDRESS_HEADERS, type AddressKey } from '../doors/post-address.ts';
import { WARNINGS_TEXT } from '../doors/post-warnings.ts';
import type { AnswerText, OperationText, ParameterText } from './operation-text.ts';
import { refTo } from './schemas.ts';

const WORDS: Readonly<Record<AddressKey, string>> = {
  source_name: 'Name of the source',
  collection_name: 'The same',
  source: 'UUID of the source, or its name',
  collection: 'The same',
};

/** The parameters that may name the source of a post; the first one that is not empty counts. */
export function addressParameters(keys: readonly AddressKey[]): readonly ParameterText[] {
  return [
    ...textParameters(keys, (name) => WORDS[name]),
    ...ADDRESS_HEADERS.map(
      (name): ParameterText => ({
        name,
        in: 'header',
        description: 'Name or UUID of the source',
        schema: { type: 'string' },
      }),
    ),
  ];
}

/** Parameters in the URL that are texts, which count as absent if they are empty. */
export function textParameters<Name extends string>(
  names: readonly Name[],
  describe: (name: Name) => string,
): readonly ParameterText[] {
  return names.map((name) => ({
    name,
    in: 'query',
    description: describe(name),
    schema: { type: 'string' },
    mayBeEmpty: true,
  }));
}

/** The common description of posts of all formats. */
export const POST_TEXT = {
  tag: 'posting',
  parameters: addressParameters(ADDRESS_KEYS),
  failures: [
    'repeated_parameter',
    'quota_exceeded',
    'missing_source',
    'out_of_reach',
    'unknown_source',
    'ingest_overloaded',
    'storage_failed',
  ],
} as const satisfies Partial<OperationText>;

/** The answers to posts of Logflare's formats. */
export const LOGGED_ANSWERS: Readonly<Record<number, AnswerText>> = {
  200: {
    description: 'All events are stored and survive a crash',
    headers: WARNINGS_TEXT,
    content: { 'application/json': { schema: refTo('Logged') } },
  },
  406: {
    description: 'Some events were refused; the others are stored',
    headers: WARNINGS_TEXT,
  },
};
