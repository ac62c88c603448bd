import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/client.ts';
import type { Resource } from '../state/resource.ts';
import { Button } from './button.tsx';

/** Nothing is there, and what to do about it. */
export function Empty(props: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="state" role="status">
      <p class="state-title">{props.title}</p>
      {props.children}
    </div>
  );
}

/** Something is on its way. It is shown only when it takes a moment (in the style). */
export function Loading({ what = 'Loading' }: { readonly what?: string }) {
  return (
    <div class="state loading" role="status">
      <span class="spinner" aria-hidden="true" />
      <p>{what} …</p>
    </div>
  );
}

/** A call failed: in the words of the service, with its place and hint. */
export function Failure(props: { readonly error: ApiError; readonly onRetry?: () => void }) {
  const { error, onRetry } = props;
  const { line, column, hint } = error.details;
  return (
    <div class={`state ${error.isRefused ? 'refused' : 'failed'}`} role="alert">
      <p class="state-title">{findTitle(error)}</p>
      <p class="state-text">{error.message}</p>
      {line !== undefined && (
        <p class="muted">
          line {line}, column {column}
        </p>
      )}
      {hint !== undefined && <p class="muted">{hint}</p>}
      <p class="muted mono">{error.code}</p>
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}

/** Draws what was loaded, or how far it is. */
export function Loaded<T>(props: {
  readonly resource: Resource<T>;
  readonly what?: string;
  readonly onRetry?: () => void;
  readonly children: (value: T) => ComponentChildren;
}) {
  const { resource, what, onRetry, children } = props;
  if (resource.state === 'loading') return <Loading {...(what !== undefined && { what })} />;
  if (resource.state === 'failed')
    return <Failure error={resource.error} {...(onRetry && { onRetry })} />;
  return <>{children(resource.value)}</>;
}

function findTitle(error: ApiError): string {
  if (error.isRefused) return 'Your token may not do this';
  if (error.code === 'unreachable') return 'The service does not answer';
  if (error.code === 'overloaded') return 'The service is busy';
  if (error.code === 'answer_too_large') return 'The answer is too large';
  if (error.code === 'query_timeout') return 'It took too long';
  return 'That did not work';
}
