import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiError } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { FormError } from '../../components/form-error.tsx';
import { useActions } from '../../state/actions.ts';
import { changeParameters } from '../../state/route.ts';

/** What is searched for. The service reads it, and says what is wrong with it. */
export function SearchBox(props: {
  readonly search: string;
  readonly problem: ApiError | undefined;
}) {
  const { search, problem } = props;
  const [text, setText] = useState(search);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => setText(search), [search]);
  useActions(
    () => [
      { title: 'Search events', group: 'Explore', keys: '/', run: () => input.current?.select() },
    ],
    [],
  );
  return (
    <form
      class="search-box"
      onSubmit={(event) => {
        event.preventDefault();
        changeParameters({ search: text.trim() });
      }}
    >
      <input
        class="input mono"
        ref={input}
        type="search"
        aria-label="Search"
        aria-invalid={problem !== undefined}
        aria-describedby={problem && 'search-problem'}
        placeholder={'timeout  "two words"  -healthcheck  status_code>=500  /regex/'}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') input.current?.blur();
        }}
      />
      <button type="submit" class="button primary">
        Search
      </button>
      <Button kind="quiet" icon="help" label="How to search" onClick={() => setHelpOpen(true)} />
      <FormError error={problem} id="search-problem" />
      {isHelpOpen && <SearchHelp onClose={() => setHelpOpen(false)} />}
    </form>
  );
}

const EXAMPLES = [
  ['timeout', 'the message contains it, in upper or lower case'],
  ['"two words"', 'the message contains the phrase'],
  ['/GET .* 5\\d\\d/', 'the message matches a regular expression'],
  ['status_code:500', 'the field has this value'],
  ['path:/^.rest/', 'the field matches a regular expression'],
  ['status_code>=500', 'the field is such a number; also <, >, <= and ='],
  ['user_id:*', 'the field is there'],
  ['*.request_id:"a b"', 'any field whose path ends so has this value'],
  ['-healthcheck', 'none of it: a minus turns any condition around'],
] as const;

function SearchHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="How to search" onClose={onClose}>
      <p>All conditions must hold. A field is named by its path, or by the end of it.</p>
      <dl class="search-help">
        {EXAMPLES.map(([example, meaning]) => (
          <div key={example}>
            <dt>
              <code>{example}</code>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
