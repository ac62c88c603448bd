import { useState } from 'preact/hooks';
import { openSession, session } from '../state/session.ts';
import { Field } from './field.tsx';

/** Asks for a token. */
export function TokenPrompt() {
  const [text, setText] = useState('');
  const current = session.value;
  const refusal = current.state === 'none' ? current.refusal : undefined;
  return (
    <main class="prompt">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '') void openSession(text.trim());
        }}
      >
        <h1>
          <span class="brand">weir</span>
        </h1>
        <p>Give an access token of this service. It is kept until you close this tab.</p>
        <Field
          label="Access token"
          hint="A first start prints one that may do everything; weir token create makes others."
        >
          <input
            class="input mono"
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            ref={focus}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </Field>
        {refusal && (
          <p class="form-error" role="alert">
            {refusal.isUnauthorized ? 'The service does not know this token.' : refusal.message}
          </p>
        )}
        <button type="submit" class="button primary" disabled={current.state === 'asking'}>
          Open
        </button>
      </form>
    </main>
  );
}

/** There is nothing else on this page. */
function focus(element: HTMLElement | null): void {
  element?.focus();
}
