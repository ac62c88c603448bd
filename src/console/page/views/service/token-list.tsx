import { useState } from 'preact/hooks';
import { ApiError } from '../../api/client.ts';
import { createToken, loadTokens, revokeToken, type TokenInfo } from '../../api/service.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { FormError } from '../../components/form-error.tsx';
import { copyText } from '../../components/notice.tsx';
import { Loaded } from '../../components/states.tsx';
import { useResource } from '../../state/resource.ts';

const SCOPES = ['ingest', 'query', 'explore', 'manage'] as const;

/** All tokens: make one, which is shown once, and revoke one. */
export function TokenList() {
  const [resource, reload] = useResource(loadTokens, []);
  const [isMaking, setMaking] = useState(false);
  const [revoked, setRevoked] = useState<TokenInfo>();
  return (
    <Loaded resource={resource} what="Loading the tokens" onRetry={reload}>
      {(tokens) => (
        <div class="service-part">
          <p>
            <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
              New token
            </Button>
          </p>
          <ul class="token-list">
            {tokens.map((token) => (
              <li key={token.id} class="card">
                <TokenLine token={token} onRevoke={() => setRevoked(token)} />
              </li>
            ))}
          </ul>
          {isMaking && (
            <NewToken
              onClose={() => {
                setMaking(false);
                reload();
              }}
            />
          )}
          {revoked !== undefined && (
            <Revocation
              token={revoked}
              onClose={() => {
                setRevoked(undefined);
                reload();
              }}
            />
          )}
        </div>
      )}
    </Loaded>
  );
}

function TokenLine(props: { readonly token: TokenInfo; readonly onRevoke: () => void }) {
  const { name, scopes, from, projects, sources, endpoints, expires_at } = props.token;
  const bounds = [
    ...(projects === undefined ? [] : [`projects ${projects.join(', ')}`]),
    ...(sources === undefined ? [] : [`sources ${sources.join(', ')}`]),
    ...(endpoints === undefined ? [] : [`saved queries ${endpoints.join(', ')}`]),
    ...(expires_at === undefined ? [] : [`until ${expires_at}`]),
  ];
  return (
    <>
      <div>
        <h2>{name}</h2>
        <p class="badges">
          {scopes.map((scope) => (
            <span key={scope} class="badge accent">
              {scope}
            </span>
          ))}
          {from === 'settings' && <span class="badge">from the settings</span>}
        </p>
        {bounds.length > 0 && <p class="muted">Only {bounds.join('; ')}</p>}
      </div>
      {from === 'file' && (
        <Button kind="danger" label={`Revoke ${name}`} onClick={props.onRevoke}>
          Revoke
        </Button>
      )}
    </>
  );
}

function NewToken({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly string[]>(['query']);
  const [made, setMade] = useState<string>();
  const [error, setError] = useState<ApiError>();
  const make = async (): Promise<void> => {
    try {
      setMade(await createToken(name, scopes));
    } catch (failure) {
      setError(ApiError.from(failure));
    }
  };
  if (made !== undefined) {
    return (
      <Dialog title={`The token ${name}`} onClose={onClose}>
        <p>It is shown only now. Keep it where only its user can read it.</p>
        <p class="text-frame mono made-token">{made}</p>
        <Button kind="primary" icon="copy" onClick={() => void copyText(made, 'the token')}>
          Copy
        </Button>
      </Dialog>
    );
  }
  return (
    <Dialog title="New token" onClose={onClose}>
      <form
        class="token-form"
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        <Field label="Name">
          <input
            class="input"
            required
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </Field>
        <fieldset class="scopes">
          <legend class="field-label">It may</legend>
          {SCOPES.map((scope) => (
            <label key={scope}>
              <input
                type="checkbox"
                checked={scopes.includes(scope)}
                onChange={() => setScopes(toggled(scopes, scope))}
              />{' '}
              {scope}
            </label>
          ))}
        </fieldset>
        <FormError error={error} />
        <button type="submit" class="button primary">
          Make the token
        </button>
      </form>
    </Dialog>
  );
}

function Revocation(props: { readonly token: TokenInfo; readonly onClose: () => void }) {
  const { token, onClose } = props;
  const [error, setError] = useState<ApiError>();
  const revoke = async (): Promise<void> => {
    try {
      await revokeToken(token.id);
      onClose();
    } catch (failure) {
      setError(ApiError.from(failure));
    }
  };
  return (
    <Dialog title={`Revoke the token ${token.name}?`} onClose={onClose}>
      <p>Whoever uses it is refused from now on. It cannot be undone.</p>
      <FormError error={error} />
      <Button kind="danger" onClick={() => void revoke()}>
        Revoke it
      </Button>
    </Dialog>
  );
}

function toggled(all: readonly string[], one: string): readonly string[] {
  return all.includes(one) ? all.filter((each) => each !== one) : [...all, one];
}
