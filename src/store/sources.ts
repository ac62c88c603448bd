import { QueryError } from '../../engine/columns.ts';
import { SerialWork } from '../../ingest/serial-work.ts';
import { formatProjectRule, parseSource, type Source } from '../../ingest/source.ts';
import type { Definitions } from '../definition/definitions.ts';
import { durably } from '../durably.ts';
import { echo } from '../echo.ts';
import { fromQueryError, ServiceError } from '../errors.ts';
import { SOURCES_MADE_MAX } from '../limits.ts';
import { StartError } from '../start-error.ts';
import type { SourceStore } from './backend.ts';
import type { LogIntake } from './log-intake.ts';
import type { SourceFile } from './source-file.ts';

/**
 * Adds sources to a running service, one after another. A source is written to the file first, and
 * takes effect when the change resolves. Sources are never changed or removed, because stored
 * events belong to the project that their source's rule gave them.
 */
export class Sources {
  readonly #file: Pick<SourceFile, 'write'>;
  readonly #intake: Pick<LogIntake, 'listSources'>;
  readonly #store: SourceStore;
  readonly #definitions: Pick<Definitions, 'catalogue' | 'tryAgain'>;
  readonly #changes = new SerialWork();
  /** The sources in the file. */
  #made: readonly Source[];

  constructor(parts: {
    readonly file: Pick<SourceFile, 'write'>;
    readonly made: readonly Source[];
    readonly intake: Pick<LogIntake, 'listSources'>;
    readonly store: SourceStore;
    readonly definitions: Pick<Definitions, 'catalogue' | 'tryAgain'>;
  }) {
    this.#file = parts.file;
    this.#made = parts.made;
    this.#intake = parts.intake;
    this.#store = parts.store;
    this.#definitions = parts.definitions;
  }

  /**
   * Makes a source with this name and project rule. An existing one with the same rule stays as it
   * is.
   *
   * @throws ServiceError when the name or rule is not allowed, or the source cannot be written.
   */
  put(name: string, rule: string): Promise<{ readonly source: Source; readonly isNew: boolean }> {
    return this.#changes.run(async () => {
      const source = parseSource(name, rule);
      if (typeof source === 'string') throw new ServiceError('invalid_source', source);
      const known = this.#intake.listSources().find((each) => each.name === name);
      if (known !== undefined) {
        checkSameRule(known, rule);
        return { source: known, isNew: false };
      }
      await this.#checkFree(name);
      const made = [...this.#made, source];
      await durably('the source', () => this.#file.write(made));
      this.#made = made;
      this.#store.add(source);
      await this.#definitions.tryAgain();
      return { source, isNew: true };
    });
  }

  /** Resolves when no change is running. */
  close(): Promise<void> {
    return this.#changes.settled();
  }

  async #holdsEventsOf(name: string): Promise<boolean> {
    try {
      return await this.#store.holdsEventsOf(name);
    } catch (error) {
      throw error instanceof QueryError ? fromQueryError(error) : error;
    }
  }

  /** @throws ServiceError when a new source cannot have the name, or there are too many. */
  async #checkFree(name: string): Promise<void> {
    if (this.#made.length >= SOURCES_MADE_MAX) {
      throw conflict(
        `at most ${SOURCES_MADE_MAX} sources may be made over HTTP; the limit is reached`,
      );
    }
    // Queries may write a source's name in any letter case if that is unambiguous.
    const similar = this.#intake
      .listSources()
      .find((each) => each.name.toLowerCase() === name.toLowerCase());
    if (similar !== undefined) {
      throw conflict(
        `names of sources must differ by more than letter case; there is ${similar.name}`,
      );
    }
    const { catalogue } = this.#definitions;
    const view = catalogue.find(name)?.definition.name;
    const user = catalogue
      .list()
      .find(({ query }) => query.bound.views.some((each) => each === view));
    if (user !== undefined) {
      throw conflict(
        `${name} is the name of a saved query that ${user.definition.name} selects from; a source must have another name`,
      );
    }
    if (await this.#holdsEventsOf(name)) {
      throw conflict(
        `events of a source ${echo(name)} are stored, and their project rule is unknown; start weir with ${name} in SOURCES, as ${name} or ${name}:metadata.PATH`,
      );
    }
  }
}

/**
 * Joins the sources of the settings and those made over HTTP.
 *
 * @throws StartError when both have one of the same name, with different rules.
 */
export function joinSources(ofSettings: readonly Source[], made: readonly Source[]): Source[] {
  const named = new Map(ofSettings.map((source) => [source.name, source]));
  for (const source of made) {
    const { name } = source;
    const other = named.get(name);
    if (other === undefined) named.set(name, source);
    else if (formatProjectRule(other) !== formatProjectRule(source)) {
      const rule = formatProjectRule(source);
      throw new StartError(
        `SOURCES and DEFAULT_SOURCE must give the source ${name} the rule that it was made with over HTTP, ${rule}, because its stored events have their projects by it; got ${formatProjectRule(other)}. Write SOURCES=${name}:${rule}, or leave it out of both`,
      );
    }
  }
  return [...named.values()];
}

/** @throws ServiceError when the existing source has another rule. */
function checkSameRule(known: Source, rule: string): void {
  const is = formatProjectRule(known);
  if (is === rule) return;
  throw conflict(
    `the source ${known.name} has the project rule ${is}, which cannot be changed: stored events have their projects by it; got ${rule}`,
  );
}

function conflict(message: string): ServiceError {
  return new ServiceError('source_conflict', message);
}
