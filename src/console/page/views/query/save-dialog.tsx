import { useState } from 'preact/hooks';
import { ApiError } from '../../api/client.ts';
import { type QueryParameter, saveEndpoint } from '../../api/query.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { FormError } from '../../components/form-error.tsx';
import { openView } from '../../state/route.ts';

/** Saves the text as an endpoint: each `@name` becomes a required parameter of the type that it has here. */
export function SaveDialog(props: {
  readonly sql: string;
  readonly parameters: readonly QueryParameter[];
  readonly onClose: () => void;
}) {
  const { sql: query, parameters, onClose } = props;
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [error, setError] = useState<ApiError>();
  const save = async (): Promise<void> => {
    try {
      await saveEndpoint({ name, description, query, parameters });
      openView('endpoints', { endpoint: name });
    } catch (failure) {
      setError(ApiError.from(failure));
    }
  };
  return (
    <Dialog title="Save as endpoint" onClose={onClose}>
      <form
        class="token-form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Field label="Name" hint="Such as errors.by-hour">
          <input
            class="input"
            required
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </Field>
        <Field label="Description">
          <input
            class="input"
            value={description}
            onInput={(event) => setDescription(event.currentTarget.value)}
          />
        </Field>
        {parameters.length > 0 && (
          <p class="muted">
            Parameters: {parameters.map((one) => `${one.name} (${one.type})`).join(', ')}
          </p>
        )}
        <FormError error={error} />
        <button type="submit" class="button primary">
          Save
        </button>
      </form>
    </Dialog>
  );
}
