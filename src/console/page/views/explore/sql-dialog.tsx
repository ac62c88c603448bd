import type { ExploreQuery } from '../../api/explore.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { copyText } from '../../components/notice.tsx';
import { formatFragment } from '../../state/route.ts';

/** The SQL of the list and of its histogram, to be taken to the editor. */
export function SqlDialog(props: { readonly query: ExploreQuery; readonly onClose: () => void }) {
  const { query, onClose } = props;
  return (
    <Dialog title="SQL of what is shown" kind="wide" onClose={onClose}>
      <SqlText title="The list" sql={query.list_sql} />
      {query.histogram_sql !== null && <SqlText title="The bars" sql={query.histogram_sql} />}
    </Dialog>
  );
}

function SqlText({ title, sql }: { readonly title: string; readonly sql: string }) {
  return (
    <section class="sql-text">
      <header>
        <h3>{title}</h3>
        <a class="button" href={formatFragment('query', { sql })}>
          Open in Query
        </a>
      </header>
      <div class="text-frame">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys. */}
        <pre tabIndex={0}>{sql}</pre>
        <Button
          kind="quiet"
          icon="copy"
          label="Copy the SQL"
          onClick={() => copyText(sql, 'the SQL')}
        />
      </div>
    </section>
  );
}
