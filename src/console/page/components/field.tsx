import type { ComponentChildren } from 'preact';

/** A label above what is filled in, and a hint below. */
export function Field(props: {
  readonly label: string;
  readonly hint?: string | undefined;
  /** Read out, and not seen: where the place says it. */
  readonly isLabelHidden?: boolean;
  readonly children: ComponentChildren;
}) {
  const { label, hint, isLabelHidden = false, children } = props;
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children.
    <label class="field">
      <span class={isLabelHidden ? 'unseen' : 'field-label'}>{label}</span>
      {children}
      {hint !== undefined && <span class="field-hint">{hint}</span>}
    </label>
  );
}

/** A choice of few. */
export function Select(props: {
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChange: (value: string) => void;
  readonly name?: string;
  readonly required?: boolean;
}) {
  const { value, options, onChange, name, required = false } = props;
  return (
    <select
      class="input"
      name={name}
      required={required}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {options.map(([optionValue, text]) => (
        <option key={optionValue} value={optionValue} selected={optionValue === value}>
          {text}
        </option>
      ))}
    </select>
  );
}
