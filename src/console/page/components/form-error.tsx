import type { ApiError } from '../api/client.ts';

/** Why what was filled in was not taken, in the words of the service. */
export function FormError({
  error,
  id,
}: {
  readonly error: Pick<ApiError, 'message'> | undefined;
  readonly id?: string;
}) {
  if (error === undefined) return null;
  return (
    <p class="form-error" id={id} role="alert">
      {error.message}
    </p>
  );
}
