import { computed, signal } from '@preact/signals';
import { ApiError, ask } from '../api/client.ts';
import { forgetToken, keepToken, token } from './token.ts';

/** What the token may do, as in `GET /api/token`. */
type TokenGrant = {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly projects?: readonly string[];
  readonly sources?: readonly string[];
  readonly endpoints?: readonly string[];
  readonly expires_at?: string;
};

/** Whether the page has a token that the service knows. */
export type SessionState =
  | { readonly state: 'none'; readonly refusal?: ApiError }
  | { readonly state: 'asking' }
  | { readonly state: 'open'; readonly grant: TokenGrant };

export const session = signal<SessionState>({ state: 'none' });

/** The grant of the open session; a view is drawn only while there is one. */
export const grant = computed(() => {
  const current = session.value;
  return current.state === 'open' ? current.grant : undefined;
});

export function may(scope: string): boolean {
  return grant.value?.scopes.includes(scope) ?? false;
}

/** Tries a token: it is kept if the service knows it. */
export async function openSession(text: string): Promise<void> {
  session.value = { state: 'asking' };
  try {
    keepToken(text);
    const { result } = await ask<{ readonly result: TokenGrant }>('api/token');
    session.value = { state: 'open', grant: result };
  } catch (error) {
    forgetToken();
    session.value = { state: 'none', refusal: ApiError.from(error) };
  }
}

/** Forgets the token. */
export function closeSession(refusal?: ApiError): void {
  forgetToken();
  session.value = refusal === undefined ? { state: 'none' } : { state: 'none', refusal };
}

/** Goes on with the token of this tab, if it has one. */
export function resumeSession(): void {
  const known = token();
  if (known !== undefined) void openSession(known);
}
