import { Counter, Gauge, type Registry } from 'prom-client';

/** One value of a metric, with its labels. */
export type Reading = {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
};

export type ReadMetric = {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** All current values; missing ones are removed. Called at each scrape. */
  readonly read: () => number | Iterable<Reading>;
};

/** A metric that is read from `stats`. */
export type StatsMetric<T> = Omit<ReadMetric, 'read'> & {
  readonly read: (stats: T) => ReturnType<ReadMetric['read']>;
};

/**
 * Adds a metric whose value is stored elsewhere and read at each scrape, so that updating it costs nothing. A name that
 * ends in `_total` is that of a counter, any other that of a gauge.
 */
export function addReadMetric(registry: Registry, metric: ReadMetric): void {
  const { name, help, read } = metric;
  const common = { name, help, labelNames: metric.labels ?? [], registers: [registry] };
  if (name.endsWith('_total')) {
    new Counter({
      ...common,
      collect() {
        this.reset();
        for (const { labels, value } of toReadings(read())) this.inc(labels ?? {}, value);
      },
    });
    return;
  }
  new Gauge({
    ...common,
    collect() {
      this.reset();
      for (const { labels, value } of toReadings(read())) this.set(labels ?? {}, value);
    },
  });
}

function toReadings(value: number | Iterable<Reading>): Iterable<Reading> {
  return typeof value === 'number' ? [{ value }] : value;
}
