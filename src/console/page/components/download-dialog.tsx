import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api/client.ts';
import {
  cancelDownload,
  DOWNLOAD_FORMATS,
  type DownloadFormat,
  type DownloadOrder,
  type DownloadProgress,
  followDownload,
  isOver,
  startDownload,
} from '../api/download.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Field, Select } from './field.tsx';
import { FormError } from './form-error.tsx';
import { formatInteger } from './quantity.ts';

const FORMAT_TEXTS: Readonly<Record<DownloadFormat, readonly [title: string, hint: string]>> = {
  csv: ['CSV', 'A table with a header row; nested values are JSON in their column'],
  ndjson: ['Lines of JSON', 'One object in each line'],
};

/** Downloads all that matches into a file. The browser does it by itself, so the window can be closed meanwhile. */
export function DownloadDialog(props: {
  readonly order: DownloadOrder;
  /** Says what will be in the file. */
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}) {
  const { order, children, onClose } = props;
  const [format, setFormat] = useState<DownloadFormat>('csv');
  const { stage, start, cancel } = useDownload();
  const [, hint] = FORMAT_TEXTS[format];
  const submit = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (stage.kind === 'ended' || stage.kind === 'refused') submit.current?.focus();
  }, [stage.kind]);
  return (
    <Dialog title="Download everything that matches" onClose={onClose}>
      <form
        class="download"
        onSubmit={(event) => {
          event.preventDefault();
          void start(order, format);
        }}
      >
        <p class="download-what">{children}</p>
        {stage.kind === 'going' ? (
          <Going progress={stage.progress} isOfEvents={'source' in order} onCancel={cancel} />
        ) : (
          <>
            <Ended stage={stage} isOfEvents={'source' in order} />
            <Field label="Format" hint={hint}>
              <Select
                value={format}
                options={DOWNLOAD_FORMATS.map((name) => [name, FORMAT_TEXTS[name][0]] as const)}
                onChange={(name) => setFormat(name as DownloadFormat)}
              />
            </Field>
            <button
              type="submit"
              ref={submit}
              class="button primary"
              disabled={stage.kind === 'asking'}
            >
              {stage.kind === 'ended' ? 'Download again' : 'Download'}
            </button>
          </>
        )}
      </form>
    </Dialog>
  );
}

type Stage =
  | { readonly kind: 'choosing' | 'asking' }
  | { readonly kind: 'going'; readonly progress: DownloadProgress | undefined }
  | { readonly kind: 'ended'; readonly progress: DownloadProgress }
  | { readonly kind: 'refused'; readonly error: ApiError };

/** One download after the other. */
function useDownload(): {
  readonly stage: Stage;
  readonly start: (order: DownloadOrder, format: DownloadFormat) => Promise<void>;
  readonly cancel: () => void;
} {
  const [stage, setStage] = useState<Stage>({ kind: 'choosing' });
  const isCancelled = useRef(false);
  const left = useRef(new AbortController());
  useEffect(() => {
    left.current = new AbortController();
    return () => left.current.abort();
  }, []);
  const start = async (order: DownloadOrder, format: DownloadFormat): Promise<void> => {
    const { signal } = left.current;
    isCancelled.current = false;
    setStage({ kind: 'asking' });
    try {
      const ticket = await startDownload(order, format);
      setStage({ kind: 'going', progress: undefined });
      for await (const progress of followDownload(ticket, signal)) {
        if (signal.aborted) return;
        if (progress !== undefined && isOver(progress)) setStage({ kind: 'ended', progress });
        else setStage({ kind: 'going', progress });
        // What the browser has not begun cannot be cancelled yet.
        if (progress !== undefined && isCancelled.current) await cancelDownload(ticket);
      }
    } catch (failure) {
      const error = ApiError.from(failure);
      if (!signal.aborted) setStage({ kind: 'refused', error });
    }
  };
  const cancel = (): void => {
    isCancelled.current = true;
  };
  return { stage, start, cancel };
}

function Going(props: {
  readonly progress: DownloadProgress | undefined;
  readonly isOfEvents: boolean;
  readonly onCancel: () => void;
}) {
  const { progress, isOfEvents, onCancel } = props;
  const [isCancelling, setCancelling] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  // The button that was pressed is gone: keys must not begin at the top of the page.
  useEffect(() => button.current?.focus(), []);
  const { state = 'waiting', rows_done = 0, share = 0 } = progress ?? {};
  const percent = Math.floor(100 * share);
  return (
    <>
      <p role="status">
        {isCancelling ? 'Cancelling' : 'The browser downloads it. You can close this window.'}
      </p>
      <progress aria-label="Downloaded" max={1} value={share} />
      <p class="muted download-facts">
        {state === 'waiting' && 'waiting for a thread'}
        {state === 'running' && `the query has read ${percent} % of its rows`}
        {state === 'sending' && !isOfEvents && 'the answer is being sent'}
        {state === 'sending' &&
          isOfEvents &&
          `${formatInteger(rows_done)} events sent, ${percent} % of the time`}
      </p>
      <Button
        buttonRef={button}
        onClick={() => {
          setCancelling(true);
          onCancel();
        }}
      >
        Cancel
      </Button>
    </>
  );
}

/** How the last download ended, if there was one. */
function Ended({ stage, isOfEvents }: { readonly stage: Stage; readonly isOfEvents: boolean }) {
  if (stage.kind === 'refused') return <FormError error={stage.error} />;
  if (stage.kind !== 'ended') return null;
  const { state, rows_done, truncated_to, error } = stage.progress;
  if (state === 'failed') {
    const message = error?.message ?? 'the connection broke off, or the browser ended the download';
    return <FormError error={{ message: `The file is missing or incomplete: ${message}` }} />;
  }
  return (
    <p role="status">
      {state === 'cancelled' && 'Cancelled: the file is incomplete.'}
      {state === 'done' && isOfEvents && `Done: ${formatInteger(rows_done)} events were sent.`}
      {state === 'done' &&
        !isOfEvents &&
        (truncated_to === undefined
          ? 'Done: all rows were sent.'
          : `Done, but the answer has more rows: only the first ${formatInteger(truncated_to)} were sent.`)}
    </p>
  );
}
