import type { ProfileName } from '../profile.ts';
import { DefinitionError, type DefinitionFault, type Position } from './definition-error.ts';
import { type DefinitionFile, parseDefinitionFile } from './definition-file.ts';

/** Where a definition comes from: weir itself, ENDPOINTS_DIR, or whoever made it over HTTP. */
export type Origin = 'built-in' | 'folder' | 'api';

/** The file of a definition, read. A changed one is another object. */
export type SavedDefinition = DefinitionFile & {
  readonly origin: Origin;
  /** As errors name it. */
  readonly file: string;
  readonly fileText: string;
};

/** @throws DefinitionError for the first problem of the header, with all others. */
export function readSaved(
  { origin, file, fileText }: Pick<SavedDefinition, 'origin' | 'file' | 'fileText'>,
  profile: ProfileName,
): SavedDefinition {
  return { ...parseDefinitionFile(file, fileText, profile), origin, file, fileText };
}

/** A problem at a place of the file. */
export function problemIn(
  { file, fileText }: SavedDefinition,
  position: Position,
  reason: string,
  fault: DefinitionFault = 'header',
): DefinitionError {
  return new DefinitionError(file, fileText, position, reason, fault);
}
