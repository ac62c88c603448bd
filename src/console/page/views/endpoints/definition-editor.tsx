import { useRef, useState } from 'preact/hooks';
import { ApiError } from '../../api/client.ts';
import { removeDefinition, saveDefinition } from '../../api/endpoints.ts';
import { Button } from '../../components/button.tsx';
import { copyText, say } from '../../components/notice.tsx';
import { useSchemaNames } from '../../editor/schema-names.ts';
import { type EditorHandle, SqlEditor, type TextProblem } from '../../editor/sql-editor.tsx';
import { useActions } from '../../state/actions.ts';
import { listParameters } from './call-form.tsx';
import type { DefinitionTextProps, Draft } from './definition-text.tsx';
import { DeleteDialog } from './delete-dialog.tsx';

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
  const isChanged = draft.text !== draft.saved.text;
  const [error, setError] = useState<ApiError>();
  const [isDeleting, setDeleting] = useState(false);
  const handle = useRef<EditorHandle | undefined>(undefined);
  const names = useSchemaNames(
    listParameters(endpoint)
      .map(({ name }) => name)
      .join(' '),
  );
  const { save, isSaving } = useSaving({ ...props, isAllowed: reason === undefined }, setError);
  useActions(
    () => [
      ...(reason === undefined
        ? [{ title: 'Save the SQL', group: 'Endpoints', keys: 'Ctrl+s', run: save }]
        : []),
      {
        ...{ title: 'Write in the editor', group: 'Endpoints', keys: 'x' },
        run: () => handle.current?.focus(),
      },
    ],
    [reason],
  );
  return (
    <div class="definition">
      <SqlEditor
        label={`SQL of ${endpoint.name}`}
        text={draft.text}
        names={names}
        problem={problemOf(error)}
        handle={handle}
        isReadOnly={reason !== undefined}
        onRun={save}
        onChange={(text) => {
          setError(undefined);
          onDraft({ text, saved: draft.saved });
        }}
      />
      {error !== undefined && <SaveFailure error={error} onReload={onReload} />}
      <EditorTools
        reason={reason}
        text={draft.text}
        isChanged={isChanged}
        isSaving={isSaving}
        onSave={save}
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

/** Saves the text that was typed last, one time after the other. */
function useSaving(
  props: DefinitionTextProps & { readonly draft: Draft; readonly isAllowed: boolean },
  setError: (error: ApiError | undefined) => void,
): { readonly save: () => void; readonly isSaving: boolean } {
  const [isSaving, setSaving] = useState(false);
  // What the keys and the end of a save meet is what was typed last.
  const latest = useRef(props);
  latest.current = props;
  const save = async (): Promise<void> => {
    const { endpoint, draft, isAllowed } = latest.current;
    if (!isAllowed || draft.text === draft.saved.text || isSaving) return;
    setSaving(true);
    setError(undefined);
    const { text, saved } = draft;
    try {
      const { name, etag } = await saveDefinition(endpoint.id, { text, etag: saved.etag });
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
  return { save: () => void latestSave.current(), isSaving };
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

/** Why nothing was changed; where somebody else was first, what they wrote can be loaded. */
function SaveFailure(props: { readonly error: ApiError; readonly onReload: () => void }) {
  const { error, onReload } = props;
  if (error.status === 412) {
    return (
      <div class="definition-conflict" role="alert">
        <p>
          <strong>Somebody changed or deleted it meanwhile.</strong> Nothing was overwritten. Copy
          your text if you need it, then load theirs.
        </p>
        <Button icon="refresh" onClick={onReload}>
          Load their text
        </Button>
      </div>
    );
  }
  const { line, column, hint } = error.told;
  return (
    <p class="form-error" role="alert">
      {line !== undefined && `Line ${line}, column ${column}: `}
      {error.message}
      {hint !== undefined && ` (${hint})`}
    </p>
  );
}

function problemOf(error: ApiError | undefined): TextProblem | undefined {
  const { line, column } = error?.told ?? {};
  if (error === undefined || line === undefined || column === undefined) return undefined;
  return { line, column, message: error.message };
}
