import { type EndpointInfo, loadDefinition } from '../../api/endpoints.ts';
import { Loaded } from '../../components/states.tsx';
import { useResource } from '../../state/resource.ts';
import type { Draft } from './drafts.ts';

export type DefinitionTextProps = {
  readonly endpoint: EndpointInfo & { readonly id: string };
  readonly draft: Draft | undefined;
  readonly onDraft: (draft: Draft | undefined) => void;
  /** Hears that it was changed, and its name then; without a name it was deleted. */
  readonly onChange: (name?: string) => void;
};

/** The file of a saved query. The editor comes with the first text that is shown. */
export function DefinitionText(props: DefinitionTextProps) {
  const { endpoint, draft, onDraft, onChange } = props;
  const [resource, reload] = useResource(
    async (signal) => {
      const [{ DefinitionEditor }, loaded] = await Promise.all([
        import('./definition-editor.tsx'),
        loadDefinition(endpoint.id, signal),
      ]);
      return { DefinitionEditor, loaded };
    },
    [endpoint.id],
  );
  return (
    <Loaded resource={resource} what="Loading the text" onRetry={reload}>
      {({ DefinitionEditor, loaded }) => (
        <DefinitionEditor
          key={loaded.etag}
          {...props}
          draft={draft ?? { text: loaded.text, saved: loaded }}
          onReload={() => {
            onDraft(undefined);
            onChange(endpoint.name);
            reload();
          }}
        />
      )}
    </Loaded>
  );
}
