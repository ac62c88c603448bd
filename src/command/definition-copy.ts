import { must } from '../../engine/assert.ts';
import { listNames } from '../definition/definition.ts';
import { DefinitionError, FILE_START } from '../definition/definition-error.ts';
import { parseDefinitionFile } from '../definition/definition-file.ts';
import { definitionText, withVersion } from '../definition/definition-text.ts';
import { PROFILE_NAMES } from '../profile.ts';

/** A definition as one side has it: a folder of files, or a service. */
export type DefinitionCopy = {
  /** By which the copies of two sides are the same definition, whatever it is called. */
  readonly id: string;
  readonly name: string;
  /** Its name and its aliases, in every profile. */
  readonly names: ReadonlySet<string>;
  /** Where it is, as it is shown: `endpoints/errors.sql`, `app.errors of the service, version 3`. */
  readonly place: string;
  /** The file, as it is on its side. */
  readonly fileText: string;
  /** Two copies mean the same when these are equal, however they are written. */
  readonly meaning: string;
};

/**
 * Reads a copy. It must be a definition in every profile: which one the service has is not known here.
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
  // Whoever changes a definition counts up: the version is no part of what it says.
  const meaning = definitions.map((each) => definitionText({ ...each, version: 1 })).join('\0');
  return { id, name, names, place, fileText, meaning };
}

/** The file as it goes from one side to the other, which counts versions for itself. */
export function sentText({ fileText }: DefinitionCopy): string {
  return withVersion(fileText, 1);
}
