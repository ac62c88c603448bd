import type { DefinitionCopy } from './definition-copy.ts';

/** A definition that the service serves and that can be changed only at its origin. */
export type FixedDefinition = {
  readonly id: string;
  readonly name: string;
  /** Its name and its aliases. */
  readonly names: ReadonlySet<string>;
  /** Where it can be changed, as the end of a sentence. */
  readonly origin: string;
};

/** An entry that is not understood. It is left unchanged. */
export type SideProblem = {
  readonly message: string;
  /** The id of its definition, if it is known. */
  readonly id?: string;
};

/** The contents of one side. */
export type SideState = {
  /** No two have the same id. */
  readonly copies: readonly DefinitionCopy[];
  readonly fixed: readonly FixedDefinition[];
  readonly problems: readonly SideProblem[];
};

/** One of the two sides that are synchronised. */
export interface DefinitionSide {
  /** The side's name in messages: `only in FOLDER`. */
  readonly where: string;

  /** @throws CommandFailure or ServiceError when it cannot be read. */
  read(): Promise<SideState>;

  /**
   * Why a new copy cannot be added to this side, as last read; `undefined` if no reason is known.
   */
  findObstacle(copy: DefinitionCopy): string | undefined;

  /**
   * Adds a copy, or replaces the copy that was read.
   *
   * @throws CommandFailure or ServiceError when nothing was changed, for example because the side
   * has changed since it was read.
   */
  put(copy: DefinitionCopy, before: DefinitionCopy | undefined): Promise<void>;

  /** Removes a copy that was read. Throws as `put` does. */
  remove(before: DefinitionCopy): Promise<void>;
}
