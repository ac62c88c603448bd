import type { ProfileName } from '../profile.ts';
import { DefinitionError, type DefinitionFault, type Position } from './definition-error.ts';
import { type DefinitionFile, parseDefinitionFile } from './definition-file.ts';

/** Where a definition comes from: weir itself, ENDPOINTS_DIR, or the HTTP API. */
export type Origin = 'built-in' | 'folder' | 'api';

/** A parsed definition file. It is immutable: a changed one is another object. */
export type SavedDefinition = DefinitionFile & {
  readonly origin: Origin;
  /** Its name in errors. */
  readonly file: string;
  readonly fileText: string;
};

/**
 * Parses a definition file.
 *
 * @throws DefinitionError for the first problem of the header, with all others.
 */
export function readSaved(
  { origin, file, fileText }: Pick<SavedDefinition, 'origin' | 'file' | 'fileText'>,
  profile: ProfileName,
): SavedDefinition {
  return { ...parseDefinitionFile(file, fileText, profile), origin, file, fileText };
}

/** Makes a problem at a place of the file. */
export function problemIn(
  { file, fileText }: SavedDefinition,
  position: Position,
  reason: string,
  fault: DefinitionFault = 'header',
): DefinitionError {
  return new DefinitionError(file, fileText, position, reason, fault);
}
