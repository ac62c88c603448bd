import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { useGradualCount } from './gradual-count.ts';
import { LogText } from './log-text.tsx';

/** A value of an event or a row: what JSON has. */
export type JsonValue = unknown;

/** Members that are drawn at once; the others come when they are asked for. */
const MEMBERS_AT_ONCE = 100;

/** Levels that are open at first. */
const OPEN_DEPTH = 3;

/** One value of a record and where it is. */
export type TreeLeaf = {
  /** Keys from the top down: records of a list have no index among them. */
  readonly keys: readonly string[];
  readonly value: string | number | boolean | null;
};

type TreeProps = {
  readonly value: JsonValue;
  /** What can be done with a value, at its side. */
  readonly actions?: ((leaf: TreeLeaf) => ComponentChildren) | undefined;
};

/** A record as a tree of texts. Nothing in it is ever read as HTML. */
export function RecordTree({ value, actions }: TreeProps) {
  return (
    <ul class="record">
      <Members value={value} keys={[]} depth={0} actions={actions} />
    </ul>
  );
}

type NodeProps = TreeProps & { readonly keys: readonly string[]; readonly depth: number };

function Members({ value, keys, depth, actions }: NodeProps) {
  const [shown, setShown] = useState(MEMBERS_AT_ONCE);
  // The same elements each time: those that are drawn already cost nothing when more are added.
  const { elements, count } = useMemo(() => {
    const { members, count } = listMembers(value, keys, shown);
    const elements = members.map((member) => (
      <Member {...member} key={member.key} depth={depth} actions={actions} />
    ));
    return { elements, count };
  }, [value, shown, depth, actions]);
  const drawn = useGradualCount(elements.length);
  return (
    <>
      {elements.slice(0, drawn)}
      {count > shown && (
        <li>
          <Button kind="quiet" onClick={() => setShown(shown + 10 * MEMBERS_AT_ONCE)}>
            {count - shown} more
          </Button>
        </li>
      )}
    </>
  );
}

function Member(props: NodeProps & { readonly name: string }) {
  const { name, value, keys, depth, actions } = props;
  const isBranch = typeof value === 'object' && value !== null;
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH);
  if (!isBranch) {
    const leaf: TreeLeaf = { keys, value: value as TreeLeaf['value'] };
    return (
      <li class="record-leaf">
        <span class="record-name">
          <LogText text={name} isCut />
        </span>
        <span class={`record-value ${findKind(value)}`}>
          <LogText text={leafText(leaf.value)} />
        </span>
        {actions && <span class="record-actions">{actions(leaf)}</span>}
      </li>
    );
  }
  const count = Array.isArray(value) ? value.length : Object.keys(value).length;
  return (
    <li>
      <button
        type="button"
        class="record-branch"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <span class="record-name">
          <LogText text={name} isCut />
        </span>
        <span class="muted">{Array.isArray(value) ? `[${count}]` : `{${count}}`}</span>
      </button>
      {isOpen && (
        <ul>
          <Members value={value} keys={keys} depth={depth + 1} actions={actions} />
        </ul>
      )}
    </li>
  );
}

type Members = {
  readonly members: readonly (Omit<NodeProps, 'depth'> & {
    readonly key: string;
    readonly name: string;
  })[];
  /** How many there are, of which the first ones are `members`. */
  readonly count: number;
};

function listMembers(value: JsonValue, keys: readonly string[], countMax: number): Members {
  if (Array.isArray(value)) {
    // A record is a list of one in the answers of this service: it is drawn as the record.
    const [only] = value;
    if (value.length === 1 && isRecord(only)) return recordMembers(only, keys, countMax);
    const members = value.slice(0, countMax).map((element: JsonValue, index) => ({
      ...{ key: String(index), name: String(index), value: element, keys },
    }));
    return { members, count: value.length };
  }
  return isRecord(value) ? recordMembers(value, keys, countMax) : { members: [], count: 0 };
}

function recordMembers(
  record: Readonly<Record<string, JsonValue>>,
  keys: readonly string[],
  countMax: number,
): Members {
  const names = Object.keys(record);
  const members = names.slice(0, countMax).map((name) => ({
    ...{ key: `.${name}`, name, value: record[name], keys: [...keys, name] },
  }));
  return { members, count: names.length };
}

function isRecord(value: JsonValue): value is Readonly<Record<string, JsonValue>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function findKind(value: JsonValue): string {
  return value === null ? 'null' : typeof value;
}

function leafText(value: TreeLeaf['value']): string {
  return value === null ? 'NULL' : String(value);
}
