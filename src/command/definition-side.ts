import type { DefinitionCopy } from './definition-copy.ts';

/** A definition that can be called on the service, and changed only where it comes from. */
export type FixedDefinition = {
  readonly id: string;
  readonly name: string;
  /** Its name and its aliases. */
  readonly names: ReadonlySet<string>;
  /** Where it is changed, as the end of a sentence. */
  readonly origin: string;
};

/** Something that is there and is not understood. It is left alone. */
export type SideProblem = {
  readonly message: string;
  /** Of the definition that it would be, where that is known. */
  readonly id?: string;
};

/** What there is on one side. */
export type SideState = {
  /** No two with one id. */
  readonly copies: readonly DefinitionCopy[];
  readonly fixed: readonly FixedDefinition[];
  readonly problems: readonly SideProblem[];
};

/** One of the two sides that are kept in step. */
export interface DefinitionSide {
  /** As in `only in FOLDER`. */
  readonly where: string;

  /** @throws CommandFailure or ServiceError where it cannot be read. */
  read(): Promise<SideState>;

  /**
   * Why a copy that is new to this side cannot come there, as it was read last; `undefined` where
   * nothing is known to stand in its way.
   */
  findObstacle(copy: DefinitionCopy): string | undefined;

  /**
   * Puts a copy in the place of what was read there, or where nothing was.
   *
   * @throws CommandFailure or ServiceError when it stays as it is, as where it is no longer what was read.
   */
  put(copy: DefinitionCopy, before: DefinitionCopy | undefined): Promise<void>;

  /** Takes away what was read. Throws as `put` does. */
  remove(before: DefinitionCopy): Promise<void>;
}
