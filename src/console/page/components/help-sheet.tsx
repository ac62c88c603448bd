import { listActions } from '../state/actions.ts';
import { Dialog } from './dialog.tsx';
import { Keys } from './palette.tsx';

/** All keys of the view that is open. */
export function HelpSheet({ onClose }: { readonly onClose: () => void }) {
  const withKeys = listActions().filter(({ keys }) => keys !== undefined);
  const groups = new Set(withKeys.map(({ group }) => group));
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div class="help-sheet">
        {[...groups].map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {withKeys
                .filter((one) => one.group === group)
                .map(({ title, keys = '' }) => (
                  <div key={keys}>
                    <dt>
                      <Keys keys={keys} />
                    </dt>
                    <dd>{title}</dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
