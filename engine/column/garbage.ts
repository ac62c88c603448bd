import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { GCProfiler, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread, MessageChannel } from 'node:worker_threads';

/**
 * Milliseconds that V8 has to collect garbage beside other work, some ten times the usual. After that it is collected at
 * once, because released memory must be freed.
 */
const COLLECTING_MS_MAX = 200;

/**
 * Length of an array that makes V8 begin to collect. V8 counts the bytes of arrays, and begins once there are 64 MiB more
 * than at its last collection (`kExternalAllocationSoftLimit`). An array that nobody writes to takes no memory. The length
 * must be less than half of the heap of a thread: beyond that V8 collects at once, and discards compiled code.
 */
const UNUSED_BYTES = 65 * 1024 * 1024;

/**
 * COLLECTING_MS_MAX of the main thread. Where all processors are busy V8 takes as long as that, and a collection at once
 * holds up all callers for a tenth of a second and more; nothing on this thread waits for the memory.
 */
const COLLECTING_MAIN_MS_MAX = 2_000;

/** Milliseconds between two looks whether V8 has ended. */
const LOOK_MS = 1;

/** Milliseconds that the threads of V8 have to mark what is in use before it is asked again to end; some three times suffice. */
const MARKING_MS = 4;

/** Where V8 has not ended by then, its threads get no processor. */
const MARKINGS_MAX = 25;

/** What is known of V8's collections on this thread. State of the module: V8 has one heap for each thread, and says nothing of it. */
class Collections {
  /** Made when it is first needed. */
  collect: ((options?: { readonly type: 'minor' }) => void) | undefined;
  /** Whether V8 has begun to collect for us and has not been seen to end. */
  isUnderWay = false;
  /** Hears of that end. */
  readonly ended = new FinalizationRegistry(() => {
    this.isUnderWay = false;
  });
  /** Nobody wakes who waits for it. */
  readonly never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  /** Frees what is transferred to it at once. */
  readonly nowhere = new MessageChannel().port1;
  /** The last collection beside other work that was asked for. */
  last: Promise<void> = Promise.resolve();

  constructor() {
    this.nowhere.close();
  }
}

const collections = new Collections();

/**
 * Collects all garbage of this thread now, and knows of none that is left; takes some 10 ms. V8 also forgets the shapes of
 * classes without an instance at this moment, and throws away all code that was compiled for them, which takes ten times as
 * long to be made again: for whoever must know what is in use.
 */
export function collectGarbage(): void {
  collector()();
}

/**
 * Collects the garbage among new objects of this thread, with the arrays that they hold: most of what a task leaves, in
 * about a millisecond, and what is compiled stays.
 */
export function collectNewGarbage(): void {
  collector()({ type: 'minor' });
  // Arrays that one collection finds are given back by the next.
  collector()({ type: 'minor' });
}

function collector(): NonNullable<Collections['collect']> {
  if (collections.collect === undefined) {
    setFlagsFromString('--expose-gc');
    collections.collect = runInNewContext('gc') as NonNullable<Collections['collect']>;
  }
  return collections.collect;
}

/**
 * Makes V8 collect all garbage of this thread beside its other work, as it does of itself: what is compiled stays. It ends
 * some 10 ms later where the thread comes to wait (`letCollect`), else after half a second of work. Does nothing while one is
 * under way.
 */
export function beginCollecting(): void {
  if (collections.isUnderWay) return;
  collections.isUnderWay = true;
  // Registered before the array begins the marking, which would find a newer object in use.
  collections.ended.register({}, undefined);
  askToCollect();
}

/** Makes V8 begin to collect, or goes on with what it has begun. */
function askToCollect(): void {
  // V8 frees an array some time after the collection, and counts it until then.
  collections.nowhere.postMessage(undefined, [new ArrayBuffer(UNUSED_BYTES)]);
}

/**
 * Collects the garbage that this thread has, but not what became garbage after V8 had begun to collect; takes some
 * 20 ms, in which the threads of V8 do the work. What is compiled stays.
 */
export function collectKeepingCode(): void {
  const profiler = new GCProfiler();
  profiler.start();
  for (let marking = 0; marking < MARKINGS_MAX; marking++) {
    askToCollect();
    Atomics.wait(collections.never, 0, 0, MARKING_MS);
    const { statistics } = profiler.stop();
    if (statistics.some(({ gcType }) => gcType === 'MarkSweepCompact')) return;
    profiler.start();
  }
  collectGarbage();
}

/** Collects all garbage of this thread beside its other work; at once where what was begun before has not ended. */
export function collectSoon(): void {
  if (collections.isUnderWay) collectKeepingCode();
  else beginCollecting();
}

/** To be awaited between tasks: lets V8 end what it has begun to collect. Takes some microseconds when it has not come to its end. */
export async function letCollect(): Promise<void> {
  if (collections.isUnderWay) await turn();
}

/**
 * Collects all garbage of this thread beside its other work. Resolves once it is done. V8 does not count shared memory when
 * it decides whether to collect, and shared memory is freed when the last thread has collected what named it: so whoever
 * lets much of it go must ask.
 */
export function collectGarbageBeside(): Promise<void> {
  collections.last = collections.last.then(collecting);
  return collections.last;
}

async function collecting(): Promise<void> {
  // A collection that has begun does not find what became garbage since then: the next one does.
  if (collections.isUnderWay) await collected();
  beginCollecting();
  await collected();
}

async function collected(): Promise<void> {
  const msMax = isMainThread ? COLLECTING_MAIN_MS_MAX : COLLECTING_MS_MAX;
  for (let ms = 0; collections.isUnderWay && ms < msMax; ms += LOOK_MS) await wait(LOOK_MS);
  if (collections.isUnderWay) collectGarbage();
}

/** Bytes of the arrays of this thread, without shared ones. V8 holds them outside of its heap. */
export function arrayBytes(): number {
  return getHeapStatistics().external_memory;
}
