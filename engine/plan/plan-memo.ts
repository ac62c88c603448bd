import { serialize } from 'node:v8';
import type { SqlValue } from '../column/value.ts';
import { WorkBudget } from '../function/work-meter.ts';
import { FOLDING_STEPS_MAX, REMEMBERED_PLANS_BYTES_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import type { Column } from './expression.ts';
import {
  type LateTexts,
  type LateTextUse,
  lateTextKind,
  lateTexts,
  lateTextUses,
  NO_TEXTS,
  type ScanBounds,
} from './late-texts.ts';
import type { BoundQuery } from './logical-plan.ts';
import { foldPlan } from './optimize/fold.ts';
import { lateBucketsAsBounds } from './optimize/late-buckets.ts';
import { type CallContext, optimizeInPieces } from './optimize/optimize.ts';
import { type PhysicalPlan, type PhysicalScan, physicalPlanOf, scansOf } from './physical-plan.ts';
import { type Pieces, runPieces } from './pieces.ts';
import {
  hasLatePattern,
  type PlanTemplate,
  scanBoundsAt,
  templateInPieces,
  timestampParameters,
} from './plan-template.ts';
import { EVERYTHING } from './reach.ts';
import { SizedMemory } from './sized-memory.ts';

/** Bytes of the texts that calls put into such plans: those of some thousand projects. */
const REMEMBERED_TEXTS_BYTES_MAX = 1024 * 1024;

/** The plan of one call. */
export type CallPlan = {
  /** Its scans are as they are to be run only where there is no `template`. */
  readonly plan: PhysicalPlan;
  /** The scans as they are to be run, by their index. */
  readonly scans: readonly PhysicalScan[];
  /** There when the same plan serves other calls too. */
  readonly template?: SentTemplate;
};

/** A plan as another thread gets it, that knows it by its number once it has read it. */
export type SentTemplate = {
  readonly number: number;
  /** A `TemplateContent`, as `v8.serialize` writes it. */
  readonly bytes: Uint8Array;
  /** What to put in: what this call says of each scan, by its index. */
  readonly bounds: readonly ScanBounds[];
  /** … and its texts: the same object in each call of the template with the same, as long as it is remembered. */
  readonly texts: LateTexts;
};

export type TemplateContent = {
  readonly plan: PhysicalPlan;
  readonly output: readonly Column[];
  /** Rows of an answer at most; the plan gives one more where there are more. */
  readonly rowsMax: number;
};

/**
 * What is remembered of a query with certain parameters. `seen`: that it was asked for, for most
 * parameters come once only and a template costs more than a plan. `template`: all is done but what a call
 * puts in. `folded`: the parameters are put in, and the late values decide what the rest comes to. `closed`:
 * no text may be left open. `none`: there is nothing to be gained.
 */
type Remembered =
  | { readonly kind: 'seen' | 'closed' | 'none' }
  | { readonly kind: 'template'; readonly template: PlanTemplate; readonly sent: Content }
  | { readonly kind: 'folded'; readonly query: BoundQuery };

type Content = Omit<SentTemplate, 'bounds' | 'texts'>;

type QueryIdentity = {
  readonly number: number;
  /** Names of its parameters that are late values where they are not NULL. */
  readonly timestamps: ReadonlySet<string>;
  /** … and that may be late texts. */
  readonly texts: ReadonlyMap<string, LateTextUse>;
  readonly hasLatePattern: boolean;
};

/** What a key costs beside its text. */
const ENTRY_BYTES = 128;

/**
 * Makes the plans of calls, and remembers what it can of them by the values of their parameters: the
 * plan is the one that `optimize` makes, whatever was remembered, or better: what a text asks of its
 * list of buckets is asked of the rows in a template.
 */
export class PlanMemo {
  readonly #remembered = new SizedMemory<string, Remembered>(REMEMBERED_PLANS_BYTES_MAX);
  readonly #texts = new SizedMemory<string, LateTexts>(REMEMBERED_TEXTS_BYTES_MAX);
  readonly #identities = new WeakMap<BoundQuery, QueryIdentity>();
  #queryCount = 0;
  #templateCount = 0;

  /** Throws a QueryError as `optimize` does. */
  planOf(query: BoundQuery, context: CallContext): CallPlan {
    return runPieces(this.planInPieces(query, context));
  }

  /** As `planOf`. */
  *planInPieces(query: BoundQuery, context: CallContext): Pieces<CallPlan> {
    const identity = this.#identityOf(query);
    if (identity.hasLatePattern) return yield* planWhole(query, context);
    const texts = textsOf(identity, context);
    const open = texts.key === NO_TEXTS.key ? 'closed' : yield* this.#plan(query, context, texts);
    const plan = open === 'closed' ? yield* this.#plan(query, context, NO_TEXTS) : open;
    return plan === 'closed' ? yield* planWhole(query, context) : plan;
  }

  /** With these texts left open; `closed`: that may not be done, or nothing may be remembered. */
  *#plan(query: BoundQuery, context: CallContext, texts: LateTexts): Pieces<CallPlan | 'closed'> {
    const key = this.#keyOf(query, context, texts);
    if (key === undefined) return 'closed';
    let known = this.#remembered.find(key);
    if (known === undefined) {
      this.#remembered.set(key, { kind: 'seen' }, ENTRY_BYTES + 2 * key.length);
      return yield* planWhole(query, context);
    }
    if (known.kind === 'seen') known = yield* this.#remember(key, query, { context, texts });
    if (known.kind === 'closed') return known.kind;
    if (known.kind === 'folded') return yield* planWhole(known.query, context);
    if (known.kind !== 'template') return yield* planWhole(query, context);
    return this.#filled(known, context, texts) ?? (yield* planWhole(query, context));
  }

  /** A template as one call runs it; `undefined` where it is none for the call. */
  #filled(
    { template, sent }: Extract<Remembered, { kind: 'template' }>,
    context: CallContext,
    given: LateTexts,
  ): CallPlan | undefined {
    const { number, bytes } = sent;
    const texts = this.#sameTexts(number, given);
    const budget = new WorkBudget(FOLDING_STEPS_MAX);
    const bounds = budget.run(() => scanBoundsAt(template, context, texts));
    if (bounds === undefined) return undefined;
    const scans = template.scans.map((scan, index) => ({ ...scan, ...bounds[index]! }));
    return { plan: template.plan, scans, template: { number, bytes, bounds, texts } };
  }

  /** The object that calls of a template with the same texts share. */
  #sameTexts(number: number, texts: LateTexts): LateTexts {
    const key = `${number} ${texts.key}`;
    const known = this.#texts.find(key);
    if (known !== undefined) return known;
    this.#texts.set(key, texts, ENTRY_BYTES + 4 * key.length);
    return texts;
  }

  *#remember(
    key: string,
    query: BoundQuery,
    call: { readonly context: CallContext; readonly texts: LateTexts },
  ): Pieces<Remembered> {
    const remembered = yield* this.#prepare(query, call);
    const size = ENTRY_BYTES + 2 * key.length + sizeOf(remembered);
    this.#remembered.set(key, remembered, size);
    return remembered;
  }

  *#prepare(
    query: BoundQuery,
    { context, texts }: { readonly context: CallContext; readonly texts: LateTexts },
  ): Pieces<Remembered> {
    try {
      const budget = new WorkBudget(FOLDING_STEPS_MAX);
      const unclocked = { ...context, nowUs: undefined, lateTexts: texts, budget };
      const folded = { ...query, plan: foldPlan(query.plan, unclocked) };
      yield;
      const bounded = { ...query, plan: lateBucketsAsBounds(folded.plan) };
      const template = yield* templateInPieces(bounded, unclocked);
      if (template === undefined) {
        return texts.values.size > 0 ? { kind: 'closed' } : { kind: 'folded', query: folded };
      }
      yield;
      const content: TemplateContent = {
        plan: template.plan,
        output: query.output,
        rowsMax: context.rowsMax,
      };
      this.#templateCount += 1;
      const sent = { number: this.#templateCount, bytes: serialize(content) };
      return { kind: 'template', template, sent };
    } catch (error) {
      // It fails in some calls and not in others, or in all; the plan of the call will tell.
      if (error instanceof QueryError) return { kind: 'none' };
      throw error;
    }
  }

  /**
   * A text that calls share when all but their late values and texts is the same; `undefined` where a value
   * is none that is compared so.
   */
  #keyOf(
    query: BoundQuery,
    { parameters, rowsMax }: CallContext,
    { values, patterns }: LateTexts,
  ): string | undefined {
    const { number, timestamps } = this.#identityOf(query);
    let key = `${number} ${rowsMax}`;
    for (const [name, value] of parameters) {
      const isLate = values.has(name) || (value !== null && timestamps.has(name));
      const text = patterns.has(name) ? 'late pattern' : isLate ? 'late' : valueText(value);
      if (text === undefined) return undefined;
      key += ` ${name}=${text}`;
    }
    return key;
  }

  #identityOf(query: BoundQuery): QueryIdentity {
    const known = this.#identities.get(query);
    if (known !== undefined) return known;
    this.#queryCount += 1;
    const identity = {
      number: this.#queryCount,
      timestamps: timestampParameters(query.plan),
      texts: lateTextUses(query.plan),
      hasLatePattern: hasLatePattern(query.plan),
    };
    this.#identities.set(query, identity);
    return identity;
  }
}

/** The texts that a call leaves open, as far as its values let it. */
function textsOf({ texts }: QueryIdentity, { parameters }: CallContext): LateTexts {
  if (texts.size === 0) return NO_TEXTS;
  const values = new Map<string, string>();
  const patterns = new Set<string>();
  for (const [name, use] of texts) {
    const value = parameters.get(name) ?? null;
    const kind = lateTextKind(value, use);
    if (kind === undefined) continue;
    values.set(name, value as string); // Nothing else has a kind.
    if (kind === 'pattern') patterns.add(name);
  }
  return lateTexts(values, patterns);
}

function* planWhole(query: BoundQuery, context: CallContext): Pieces<CallPlan> {
  const optimized = yield* optimizeInPieces(query, context);
  const plan = physicalPlanOf(optimized, context.reach ?? EVERYTHING);
  return { plan, scans: scansOf(plan) };
}

/** Told apart by type and content; a string by its length too, since it may hold what looks like others. */
function valueText(value: SqlValue): string | undefined {
  switch (typeof value) {
    case 'string':
      return `${value.length}:${value}`;
    case 'number':
      // CAST(-0.0 AS STRING) is "-0", so the two zeros are two values.
      return Object.is(value, -0) ? '-0' : `${value}`;
    case 'bigint':
      return `${value}n`;
    case 'boolean':
      return `${value}`;
    default:
      return value === null ? 'null' : undefined;
  }
}

function sizeOf(remembered: Remembered): number {
  switch (remembered.kind) {
    case 'template':
      return remembered.sent.bytes.length;
    case 'folded':
      return serialize(remembered.query.plan).length;
    default:
      return 0;
  }
}
