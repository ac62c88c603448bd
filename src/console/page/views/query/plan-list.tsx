import type { Explanation, PlanTree } from '../../api/query.ts';
import { formatCount, formatMs } from '../../components/quantity.ts';

type Line = { readonly tree: PlanTree; readonly depth: number };

/** The operators of a plan from the top down, each with its rows and its own time. */
export function PlanList({ explanation }: { readonly explanation: Explanation }) {
  const { physical, run } = explanation;
  const lines = listLines(physical);
  const slowest = Math.max(...(run?.operators ?? []).map(({ selfMs }) => selfMs), 0);
  return (
    <>
      {run !== undefined && (
        <p class="answer-notes muted">
          <span>planned {formatMs(run.planMs)}</span>
          <span>waited {formatMs(run.queueMs)}</span>
          <span>ran {formatMs(run.runMs)}</span>
          <span>in {run.fragmentCount === 0 ? 'one piece' : `${run.fragmentCount} pieces`}</span>
        </p>
      )}
      <ol class="plan">
        {lines.map(({ tree, depth }, index) => {
          const profile = run?.operators[index];
          return (
            <li key={index} class={`depth-${Math.min(depth, 8)}`}>
              <span class="plan-line">
                <code>{tree.line}</code>
                {tree.facts.map(([name, value]) => (
                  <span key={name} class="muted">
                    {name} <code>{value}</code>
                  </span>
                ))}
              </span>
              {profile !== undefined && (
                <span class="plan-measure number">
                  {formatCount(profile.rowCount)} rows, {formatMs(profile.selfMs)}
                  <meter min={0} max={slowest || 1} value={profile.selfMs} aria-hidden="true" />
                </span>
              )}
            </li>
          );
        })}
      </ol>
    </>
  );
}

function listLines(root: PlanTree): readonly Line[] {
  const lines: Line[] = [];
  const add = (tree: PlanTree, depth: number): void => {
    lines.push({ tree, depth });
    for (const input of tree.inputs) add(input, depth + 1);
  };
  add(root, 0);
  return lines;
}
