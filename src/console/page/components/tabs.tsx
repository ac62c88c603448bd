import type { ComponentChildren } from 'preact';

export type Tab<Name extends string> = { readonly name: Name; readonly title: string };

/** Several contents in one place. The arrow keys go from tab to tab. */
export function Tabs<Name extends string>(props: {
  /** What the tabs are of. */
  readonly label: string;
  readonly tabs: readonly Tab<Name>[];
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
  readonly children: ComponentChildren;
}) {
  const { label, tabs, chosen, onChoose, children } = props;
  const id = `tabs-${label.toLowerCase().replaceAll(/\W+/g, '-')}`;
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex(({ name }) => name === chosen);
    const { name } = tabs[(at + step + tabs.length) % tabs.length]!;
    onChoose(name);
    document.getElementById(`${id}-${name}`)?.focus();
  };
  return (
    <div class="tabs">
      <div class="tab-list" role="tablist" aria-label={label}>
        {tabs.map(({ name, title }) => (
          <button
            type="button"
            key={name}
            id={`${id}-${name}`}
            class="tab"
            role="tab"
            aria-selected={name === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => onChoose(name)}
            onKeyDown={move}
          >
            {title}
          </button>
        ))}
      </div>
      <div class="tab-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </div>
  );
}
