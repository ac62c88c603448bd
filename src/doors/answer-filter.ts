import type { ParameterTexts } from '../definition/parameters.ts';
import { ServiceError } from '../errors.ts';
import { oneText } from '../http/query-string.ts';
import { FILTER_PATH_LENGTH_MAX } from '../limits.ts';
import type { ParameterText } from '../openapi/operation-text.ts';

const FILTER_PATH = 'filter_path';

export const FILTER_PATH_TEXT: ParameterText = {
  name: FILTER_PATH,
  in: 'query',
  description: 'The wanted members of the answer, such as `errors,items.*.status`',
  schema: { type: 'string', maxLength: FILTER_PATH_LENGTH_MAX },
  mayBeEmpty: true,
};

/** Names whose filters are remembered; an answer has few names besides those that its sender chose. */
const MEMBERS_REMEMBERED_MAX = 64;

/** One part of a path, and the parts after it. */
type Part = {
  /** The texts around each `*` of the part. */
  readonly pieces: readonly string[];
  /** Whether the part is `**`, which stands for any number of names. */
  readonly isAnyDepth: boolean;
  readonly next: Part | undefined;
};

/** The parts of all paths that the next name may match, or that a path has ended: its value is meant as a whole. */
type Reached = ReadonlySet<Part> | 'end';

/**
 * The members of an answer that its client wants: Elasticsearch's `filter_path` (its REST API conventions, "Response
 * filtering"). It is a list of paths with commas between them. A path is names with dots between them; `*` stands for
 * any part of a name, and `**` for any number of names. What a path after `-` names is left out. Elements of a list have
 * no name. An object or a list of which nothing is left is left out, too.
 *
 * This is the filter of one value. The time to find that of a member is limited by the length of the parameter.
 */
export class AnswerFilter {
  static readonly ALL: AnswerFilter = new AnswerFilter(undefined, new Set());
  static readonly #NOTHING: AnswerFilter = new AnswerFilter(new Set(), new Set());

  /** `undefined` if all members are wanted. */
  readonly #wanted: ReadonlySet<Part> | undefined;
  readonly #unwanted: ReadonlySet<Part>;
  readonly #members = new Map<string, AnswerFilter>();

  private constructor(wanted: ReadonlySet<Part> | undefined, unwanted: ReadonlySet<Part>) {
    this.#wanted = wanted;
    this.#unwanted = unwanted;
  }

  /** @throws ServiceError if `filter_path` is too long, or given more than once. */
  static parse(query: ParameterTexts): AnswerFilter {
    const text = oneText(query, FILTER_PATH) ?? '';
    if (text.length > FILTER_PATH_LENGTH_MAX) {
      throw new ServiceError(
        'invalid_parameter',
        `${FILTER_PATH} may have ${FILTER_PATH_LENGTH_MAX} characters; got ${text.length}`,
        { parameter: FILTER_PATH },
      );
    }
    const paths = text.split(',').filter((path) => path !== '' && path !== '-');
    const wanted = paths.filter((path) => !path.startsWith('-'));
    const unwanted = paths.filter((path) => path.startsWith('-')).map((path) => path.slice(1));
    return AnswerFilter.#of(
      wanted.length === 0 ? 'end' : reachAll(wanted.map(parsePath)),
      reachAll(unwanted.map(parsePath)),
    );
  }

  static #of(wanted: Reached, unwanted: Reached): AnswerFilter {
    if (unwanted === 'end') return AnswerFilter.#NOTHING;
    if (wanted === 'end') {
      return unwanted.size === 0 ? AnswerFilter.ALL : new AnswerFilter(undefined, unwanted);
    }
    return wanted.size === 0 ? AnswerFilter.#NOTHING : new AnswerFilter(wanted, unwanted);
  }

  /** The filter of a member. */
  member(name: string): AnswerFilter {
    if (this === AnswerFilter.ALL || this === AnswerFilter.#NOTHING) return this;
    const known = this.#members.get(name);
    if (known !== undefined) return known;
    const wanted = this.#wanted === undefined ? 'end' : follow(this.#wanted, name);
    const filter = AnswerFilter.#of(wanted, follow(this.#unwanted, name));
    if (this.#members.size < MEMBERS_REMEMBERED_MAX) this.#members.set(name, filter);
    return filter;
  }

  /** What is left of the value; `undefined` if nothing is. */
  keep(value: unknown): unknown {
    if (this === AnswerFilter.ALL) return value;
    if (this === AnswerFilter.#NOTHING) return undefined;
    if (Array.isArray(value)) {
      const kept = value
        .map((element) => this.keep(element))
        .filter((element) => element !== undefined);
      return kept.length === 0 ? undefined : kept;
    }
    if (typeof value !== 'object' || value === null) {
      return this.#wanted === undefined ? value : undefined;
    }
    const kept = Object.entries(value)
      .map(([name, inner]): [string, unknown] => [name, this.member(name).keep(inner)])
      .filter(([, inner]) => inner !== undefined);
    return kept.length === 0 ? undefined : Object.fromEntries(kept);
  }

  /** What is left of a whole answer, which is at least an empty one. */
  keepAnswer(answer: object): unknown {
    return this.keep(answer) ?? (Array.isArray(answer) ? [] : {});
  }
}

/** Parses a path. A dot after a backslash belongs to a name. */
function parsePath(path: string): Part | undefined {
  let next: Part | undefined;
  for (const part of path.split(/(?<!\\)\./).reverse()) {
    const pieces = part.replaceAll('\\.', '.').split('*');
    next = { pieces, isAnyDepth: part === '**', next };
  }
  return next;
}

/** What is reached before the first name. */
function reachAll(paths: readonly (Part | undefined)[]): Reached {
  const reached = new Set<Part>();
  return paths.some((first) => reach(reached, first)) ? 'end' : reached;
}

/** What is reached after a name. */
function follow(parts: ReadonlySet<Part>, name: string): Reached {
  const reached = new Set<Part>();
  for (const part of parts) {
    const isEnd = part.isAnyDepth
      ? reach(reached, part)
      : matches(part, name) && reach(reached, part.next);
    if (isEnd) return 'end';
  }
  return reached;
}

/** Adds a part, and those after `**`, which may stand for no name. Returns whether the path may end here. */
function reach(reached: Set<Part>, first: Part | undefined): boolean {
  let part = first;
  while (part !== undefined) {
    reached.add(part);
    if (!part.isAnyDepth) return false;
    part = part.next;
  }
  return true;
}

/** Whether a name has the pieces of a part in their order, the first one at its start and the last one at its end. */
function matches({ pieces }: Part, name: string): boolean {
  const first = pieces[0]!;
  if (pieces.length === 1) return name === first;
  if (!name.startsWith(first)) return false;
  let position = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const start = name.indexOf(piece, position);
    if (start < 0) return false;
    position = start + piece.length;
  }
  const last = pieces.at(-1)!;
  return name.length - last.length >= position && name.endsWith(last);
}
