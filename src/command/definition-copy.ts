import { must } from '../../engine/columns.ts';
import { listNames } from '../definition/definition.ts';
import { DefinitionError, FILE_START } from '../definition/definition-error.ts';
import { parseDefinitionFile } from '../definition/definition-file.ts';
import { definitionText, withVersion } from '../definition/definition-text.ts';
import { PROFILE_NAMES } from '../profile.ts';

/** A definition on one side: in a folder of files, or in a service. */
export type DefinitionCopy = {
  /** Copies with the same id are the same definition, whatever their names. */
  readonly id: string;
  readonly name: string;
  /** Its name and its aliases, in every profile. */
  readonly names: ReadonlySet<string>;
  /**
   * Where it is, for messages: `endpoints/errors.sql`, or `app.errors of the service, version 3`.
   */
  readonly place: string;
  /** The text of the file on its side. */
  readonly fileText: string;
  /** Equal for copies of the same meaning, however they are written. */
  readonly meaning: string;
};

/**
 * Parses a copy. It must be valid in every profile, because the profile of the service is unknown
 * here.
 *
 * @throws DefinitionError when it is not, or has another id in another profile.
 */
export function readCopy(place: string, fileText: string): DefinitionCopy {
  const definitions = PROFILE_NAMES.map(
    (profile) => parseDefinitionFile(place, fileText, profile).definition,
  );
  const { id, name } = must(definitions[0], 'there is a profile');
  const other = definitions.find((definition) => definition.id !== id);
  if (other !== undefined) {
    const reason = `id must be the same in every profile; got ${id} and ${other.id}`;
    throw new DefinitionError(place, fileText, FILE_START, reason);
  }
  const names = new Set(definitions.flatMap(listNames));
  // The version counts changes and is not part of the meaning.
  const meaning = definitions.map((each) => definitionText({ ...each, version: 1 })).join('\0');
  return { id, name, names, place, fileText, meaning };
}

/** The file as sent to the other side, which has its own versions. */
export function sentText({ fileText }: DefinitionCopy): string {
  return withVersion(fileText, 1);
}
