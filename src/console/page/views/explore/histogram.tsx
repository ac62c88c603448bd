import { useMemo, useRef, useState } from 'preact/hooks';
import type { Bucket } from '../../api/explore.ts';
import { LogText } from '../../components/log-text.tsx';
import { formatCount, formatInteger } from '../../components/quantity.ts';
import { formatMoment, type Zone } from './event-time.ts';
import { type HistogramBar, type HistogramSeries, stackBuckets } from './histogram-bars.ts';

/** The height of the tallest bar, in the units of the drawing. */
const HEIGHT = 100;

/** Pixels that a pointer moves at least for a part of the time to be chosen. */
const DRAG_PX = 4;

type Window = { readonly from: number; readonly to: number };

type HistogramProps = {
  readonly window: Window;
  readonly bucketUs: number;
  readonly buckets: readonly Bucket[];
  /** The part of the window that the buckets are of. */
  readonly share: number;
  readonly isBySeries: boolean;
  readonly zone: Zone;
  readonly onZoom: (window: Window) => void;
};

/** How many events there are over time, as bars that are stacked by series. A part of the time is chosen by dragging. */
export function Histogram(props: HistogramProps) {
  const { window, bucketUs, buckets, share, isBySeries, zone, onZoom } = props;
  const { bars, series, most } = useMemo(() => stackBuckets(buckets), [buckets]);
  const [hovered, setHovered] = useState<number>();
  const brush = useBrush(window, bucketUs, onZoom);
  // Bars have whole buckets, of which the window may have a part only.
  const firstUs = Math.floor(window.from / bucketUs) * bucketUs;
  const count = Math.max(1, Math.ceil((window.to - firstUs) / bucketUs));
  const tipped = bars.find(({ start }) => start === hovered);
  const left = (us: number): number => (us - firstUs) / bucketUs;
  return (
    <figure class="histogram">
      <div
        class="histogram-plot"
        role="img"
        aria-label={describeBars(bars, zone, share)}
        aria-busy={share < 1}
        {...brush.listeners(firstUs, count * bucketUs)}
        onPointerLeave={() => setHovered(undefined)}
      >
        <svg viewBox={`0 0 ${count} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {bars.map((bar) => (
            <g key={bar.start} onPointerEnter={() => setHovered(bar.start)}>
              <rect class="histogram-hover" x={left(bar.start)} y={0} width={1} height={HEIGHT} />
              {bar.parts.map(({ key, from, to }) => (
                <rect
                  key={key}
                  class={`fill-${series.get(key)!.colour}`}
                  x={left(bar.start) + 0.08}
                  y={HEIGHT - (to / most) * HEIGHT}
                  width={0.84}
                  height={Math.max(((to - from) / most) * HEIGHT, from === 0 ? 1 : 0)}
                />
              ))}
            </g>
          ))}
          {brush.chosen && (
            <rect
              class="histogram-brush"
              x={left(brush.chosen.from)}
              y={0}
              width={left(brush.chosen.to) - left(brush.chosen.from)}
              height={HEIGHT}
            />
          )}
        </svg>
        <span class="histogram-most muted">{most > 1 ? formatCount(most) : ''}</span>
        {tipped && (
          <Tip
            bar={tipped}
            series={isBySeries ? series : undefined}
            place={(left(tipped.start) + 0.5) / count}
            text={formatMoment(tipped.start, zone)}
          />
        )}
      </div>
      <figcaption class="histogram-axis muted">
        <span>{formatMoment(Math.floor(window.from / 1e6) * 1e6, zone)}</span>
        {share < 1 && <progress max={1} value={share} aria-label="Counted so far" />}
        {isBySeries && <Legend series={[...series.values()]} />}
        <span>{formatMoment(Math.floor(window.to / 1e6) * 1e6, zone)}</span>
      </figcaption>
    </figure>
  );
}

function Legend({ series }: { readonly series: readonly HistogramSeries[] }) {
  return (
    <ul class="histogram-legend">
      {series.map(({ name, colour }) => (
        <li key={name}>
          <svg class="swatch" viewBox="0 0 8 8" aria-hidden="true">
            <rect class={`fill-${colour}`} width="8" height="8" rx="2" />
          </svg>
          <LogText text={name} isCut />
        </li>
      ))}
    </ul>
  );
}

function Tip(props: {
  readonly bar: HistogramBar;
  readonly series: ReadonlyMap<string, HistogramSeries> | undefined;
  /** From 0 to 1. */
  readonly place: number;
  readonly text: string;
}) {
  const { bar, series, place, text } = props;
  const side = place < 0.5 ? { left: `${place * 100}%` } : { right: `${(1 - place) * 100}%` };
  return (
    <div class="histogram-tip" style={side} aria-hidden="true">
      <p>{text}</p>
      <ul>
        {bar.parts.map(({ key, from, to }) => (
          <li key={key}>
            {series && <LogText text={series.get(key)!.name} isCut />}
            <span class="number">{formatInteger(to - from)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Chooses a part of the window with a pointer that is dragged: whole buckets. */
function useBrush(window: Window, bucketUs: number, onZoom: (window: Window) => void) {
  const drag = useRef<{ readonly x: number; readonly us: number } | undefined>(undefined);
  const [chosen, setChosen] = useState<Window>();
  const listeners = (firstUs: number, lengthUs: number) => {
    const timeOf = (event: PointerEvent): number => {
      const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect();
      const part = Math.min(1, Math.max(0, (event.clientX - left) / width));
      return firstUs + part * lengthUs;
    };
    return {
      onPointerDown: (event: PointerEvent) => {
        if (event.button !== 0) return;
        event.preventDefault();
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
        drag.current = { x: event.clientX, us: timeOf(event) };
      },
      onPointerMove: (event: PointerEvent) => {
        if (drag.current === undefined) return;
        const isDragged = Math.abs(event.clientX - drag.current.x) >= DRAG_PX;
        const [from, to] = [drag.current.us, timeOf(event)].sort((one, other) => one - other);
        setChosen(
          isDragged
            ? {
                from: Math.max(window.from, Math.floor(from! / bucketUs) * bucketUs),
                to: Math.min(window.to, Math.ceil(to! / bucketUs) * bucketUs),
              }
            : undefined,
        );
      },
      onPointerUp: () => {
        drag.current = undefined;
        setChosen(undefined);
        if (chosen !== undefined && chosen.from < chosen.to) onZoom(chosen);
      },
      onPointerCancel: () => {
        drag.current = undefined;
        setChosen(undefined);
      },
    };
  };
  return { chosen, listeners };
}

function describeBars(bars: readonly HistogramBar[], zone: Zone, share: number): string {
  const state = share < 1 ? ', not counted to the end yet' : '';
  const [tallest] = [...bars].sort((one, other) => other.count - one.count);
  if (tallest === undefined) return `Events over time: none${state}`;
  return `Events over time: at most ${tallest.count} in one bar, at ${formatMoment(tallest.start, zone)}${state}`;
}
