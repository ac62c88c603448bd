import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../api/client.ts';

/** What a view waits for. */
export type Resource<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: ApiError }
  | { readonly state: 'ready'; readonly value: T };

export type LoadedResource<T> = readonly [resource: Resource<T>, reload: () => void];

/**
 * What `load` gives, loaded anew when one of `inputs` changes or when it is asked for. What was under way is cancelled.
 */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
): LoadedResource<T> {
  const [resource, setResource] = useState<Resource<T>>({ state: 'loading' });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stopped = new AbortController();
    setResource((current) => (current.state === 'ready' ? current : { state: 'loading' }));
    load(stopped.signal).then(
      (value) => {
        if (!stopped.signal.aborted) setResource({ state: 'ready', value });
      },
      (error: unknown) => {
        if (!stopped.signal.aborted) setResource({ state: 'failed', error: ApiError.from(error) });
      },
    );
    return () => stopped.abort();
  }, [...inputs, round]);
  return [resource, () => setRound((before) => before + 1)];
}
