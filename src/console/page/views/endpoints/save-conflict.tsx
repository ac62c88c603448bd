import type { ApiError } from '../../api/client.ts';
import { type Definition, findDefinition } from '../../api/endpoints.ts';
import { Button } from '../../components/button.tsx';
import { Loaded } from '../../components/states.tsx';
import { useResource } from '../../state/resource.ts';

/** Somebody else was first: what they saved beside what was typed, and a choice of one. */
export function SaveConflict(props: {
  readonly id: string;
  readonly error: ApiError;
  readonly mine: string;
  /** Whether anything was typed that could be kept. */
  readonly isChanged: boolean;
  readonly onKeep: (over: Definition) => void;
  readonly onTake: () => void;
  /** It is no longer there. */
  readonly onGone: () => void;
}) {
  const { id, error, mine, isChanged, onKeep, onTake, onGone } = props;
  const [resource, reload] = useResource(
    async (signal) => {
      const [{ TextComparison }, theirs] = await Promise.all([
        import('./text-comparison.tsx'),
        findDefinition(id, signal),
      ]);
      return { TextComparison, theirs };
    },
    [id, error],
  );
  return (
    <Loaded resource={resource} what="Loading their text" onRetry={reload}>
      {({ TextComparison, theirs }) =>
        theirs === undefined ? (
          <div class="definition-conflict" role="alert">
            <p>
              <strong>Somebody deleted it meanwhile.</strong> Copy your text if you need it.
            </p>
            <Button onClick={onGone}>Back to the list</Button>
          </div>
        ) : (
          <>
            <div class="definition-conflict" role="alert">
              <p>
                <strong>Somebody changed it meanwhile.</strong> Nothing was overwritten.
                {isChanged && ' Lines with - are theirs, lines with + are yours.'}
              </p>
              {isChanged && <Button onClick={() => onKeep(theirs)}>Keep mine</Button>}
              <Button onClick={onTake}>Take theirs</Button>
            </div>
            {isChanged && <TextComparison theirs={theirs.text} mine={mine} />}
          </>
        )
      }
    </Loaded>
  );
}
