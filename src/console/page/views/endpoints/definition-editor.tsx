import { useRef, useState } from 'preact/hooks';
import { ApiError } from '../../api/client.ts';
import { type Definition, removeDefinition, saveDefinition } from '../../api/endpoints.ts';
import { Button } from '../../components/button.tsx';
import { FormError } from '../../components/form-error.tsx';
import { copyText, say } from '../../components/notice.tsx';
import { useSchemaNames } from '../../editor/schema-names.ts';
import { type EditorHandle, SqlEditor, type TextProblem } from '../../editor/sql-editor.tsx';
import { useActions } from '../../state/actions.ts';
import { listParameters } from './call-form.tsx';
import type { DefinitionTextProps } from './definition-text.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { type Draft, isChanged } from './drafts.ts';
import { SaveConflict } from './save-conflict.tsx';

/** Why a definition of this origin cannot be changed here. */
const READ_ONLY: Readonly<Record<string, string>> = {
  'built-in': 'It is part of weir, and cannot be changed.',
  folder: 'It is a file of the folder of definitions, and can only be changed there.',
};

/** The text of a saved query to read, and to change where it was made over HTTP. */
export function DefinitionEditor(
  props: DefinitionTextProps & { readonly draft: Draft; readonly onReload: () => void },
) {
  const { endpoint, draft, onDraft, onChange, onReload } = props;
  const reason = READ_ONLY[endpoint.origin ?? ''];
  const hasChanged = isChanged(draft);
  const [error, setError] = useState<ApiError>();
  const [isDeleting, setDeleting] = useState(false);
  const handle = useRef<EditorHandle | undefined>(undefined);
  const names = useSchemaNames(
    listParameters(endpoint)
      .map(({ name }) => name)
      .join(' '),
  );
  const { save, isSaving } = useSaving({ ...props, isAllowed: reason === undefined }, setError);
  useEditorActions({ isReadOnly: reason !== undefined, save, handle });
  return (
    <div class="definition">
      <SqlEditor
        label={`SQL of ${endpoint.name}`}
        text={draft.text}
        names={names}
        problem={findProblem(error)}
        handle={handle}
        isReadOnly={reason !== undefined}
        onRun={() => save()}
        onChange={(text) => {
          setError(undefined);
          onDraft({ text, saved: draft.saved });
        }}
      />
      {error !== undefined && error.status !== 412 && <SaveFailure error={error} />}
      {error?.status === 412 && (
        <SaveConflict
          {...{ id: endpoint.id, error, mine: draft.text, isChanged: hasChanged }}
          onKeep={save}
          onTake={onReload}
          onGone={() => onChange()}
        />
      )}
      <EditorTools
        reason={reason}
        text={draft.text}
        isChanged={hasChanged}
        isSaving={isSaving}
        onSave={() => save()}
        onDelete={() => setDeleting(true)}
      />
      {isDeleting && (
        <DeleteDialog
          name={endpoint.name}
          onDelete={() => removeDefinition(endpoint.id, draft.saved.etag)}
          onDeleted={() => onChange()}
          onConflict={(conflict) => {
            setDeleting(false);
            setError(conflict);
          }}
          onClose={() => setDeleting(false)}
        />
      )}
    </div>
  );
}

/** Offers to save, unless the text can only be read, and to write. */
function useEditorActions(props: {
  readonly isReadOnly: boolean;
  readonly save: () => void;
  readonly handle: { readonly current: EditorHandle | undefined };
}): void {
  const { isReadOnly, save, handle } = props;
  useActions(
    () => [
      ...(isReadOnly
        ? []
        : [{ title: 'Save the SQL', group: 'Endpoints', keys: 'Ctrl+s', run: () => save() }]),
      {
        ...{ title: 'Write in the editor', group: 'Endpoints', keys: 'x' },
        run: () => handle.current?.focus(),
      },
    ],
    [isReadOnly],
  );
}

/** Saves the text that was typed last, one time after the other: over the state that it was typed over, unless another is named. */
function useSaving(
  props: DefinitionTextProps & { readonly draft: Draft; readonly isAllowed: boolean },
  setError: (error: ApiError | undefined) => void,
): { readonly save: (over?: Definition) => void; readonly isSaving: boolean } {
  const [isSaving, setSaving] = useState(false);
  // What the keys and the end of a save meet is what was typed last.
  const latest = useRef(props);
  latest.current = props;
  const save = async (over: Definition | undefined): Promise<void> => {
    const { endpoint, draft, isAllowed } = latest.current;
    const { text, saved } = draft;
    const { etag: before } = over ?? saved;
    if (!isAllowed || !isChanged(draft) || isSaving) return;
    setSaving(true);
    setError(undefined);
    try {
      const { name, etag } = await saveDefinition(endpoint.id, { text, etag: before });
      latest.current.onDraft({ text: latest.current.draft.text, saved: { text, etag } });
      say(`Saved ${name}`);
      latest.current.onChange(name);
    } catch (failure) {
      setError(ApiError.from(failure));
    }
    setSaving(false);
  };
  const latestSave = useRef(save);
  latestSave.current = save;
  return { save: (over) => void latestSave.current(over), isSaving };
}

/** What can be done with the text; `reason` says why it cannot be changed. */
function EditorTools(props: {
  readonly reason: string | undefined;
  readonly text: string;
  readonly isChanged: boolean;
  readonly isSaving: boolean;
  readonly onSave: () => void;
  readonly onDelete: () => void;
}) {
  const { reason, text, isChanged, isSaving } = props;
  return (
    <div class="query-tools">
      {reason === undefined && (
        <>
          <Button kind="primary" disabled={!isChanged || isSaving} onClick={props.onSave}>
            Save
          </Button>
          <Button kind="danger" onClick={props.onDelete}>
            Delete
          </Button>
        </>
      )}
      <Button icon="copy" onClick={() => copyText(text, 'the SQL')}>
        Copy
      </Button>
      <span class="muted">
        {reason ?? (isChanged ? 'Not saved yet. Ctrl+S saves.' : 'Saved. Ctrl+S saves changes.')}
      </span>
    </div>
  );
}

/** Why nothing was changed. */
function SaveFailure({ error }: { readonly error: ApiError }) {
  const { line, column, hint } = error.details;
  const place = line === undefined ? '' : `Line ${line}, column ${column}: `;
  const message = `${place}${error.message}${hint === undefined ? '' : ` (${hint})`}`;
  return <FormError error={{ message }} />;
}

function findProblem(error: ApiError | undefined): TextProblem | undefined {
  const { line, column } = error?.details ?? {};
  if (error === undefined || line === undefined || column === undefined) return undefined;
  return { line, column, message: error.message };
}
