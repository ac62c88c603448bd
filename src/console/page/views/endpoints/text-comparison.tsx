import { diffLines } from 'diff';

/** Two texts line by line: the lines that only one of them has are marked, also for those who see no colours. */
export function TextComparison(props: { readonly theirs: string; readonly mine: string }) {
  const { theirs, mine } = props;
  const parts = diffLines(withLineEnd(theirs), withLineEnd(mine));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
    <pre class="comparison" tabIndex={0}>
      {parts.map(({ value, added, removed }, index) => {
        if (added) return <ins key={index}>{mark(value, '+ ')}</ins>;
        if (removed) return <del key={index}>{mark(value, '- ')}</del>;
        return <span key={index}>{mark(value, '  ')}</span>;
      })}
    </pre>
  );
}

/** Without it, the last line would be another one than the same line amid a text. */
function withLineEnd(text: string): string {
  return `${text.trimEnd()}\n`;
}

function mark(lines: string, sign: string): string {
  return lines.replace(/^(?=.|\n)/gm, sign);
}
