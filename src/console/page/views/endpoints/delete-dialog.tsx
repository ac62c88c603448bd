import { useState } from 'preact/hooks';
import { ApiError } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { FormError } from '../../components/form-error.tsx';
import { say } from '../../components/notice.tsx';

/** Asks once more before a saved query is deleted. */
export function DeleteDialog(props: {
  readonly name: string;
  readonly onDelete: () => Promise<void>;
  readonly onDeleted: () => void;
  /** Somebody changed it since it was loaded: it is still there. */
  readonly onConflict: (error: ApiError) => void;
  readonly onClose: () => void;
}) {
  const { name, onDelete, onDeleted, onConflict, onClose } = props;
  const [error, setError] = useState<ApiError>();
  const remove = async (): Promise<void> => {
    try {
      await onDelete();
    } catch (failure) {
      const refusal = ApiError.from(failure);
      if (refusal.status === 412) onConflict(refusal);
      else setError(refusal);
      return;
    }
    say(`Deleted ${name}`);
    onDeleted();
  };
  return (
    <Dialog title={`Delete ${name}?`} onClose={onClose}>
      <div class="definition">
        <p>Calls of it fail from then on. Logs are not touched.</p>
        <FormError error={error} />
        <div class="query-tools">
          <Button kind="danger" onClick={() => void remove()}>
            Delete it
          </Button>
          <Button onClick={onClose}>Keep it</Button>
        </div>
      </div>
    </Dialog>
  );
}
