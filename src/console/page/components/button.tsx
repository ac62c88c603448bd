import type { ComponentChildren, Ref } from 'preact';
import { Icon, type IconName } from './icon.tsx';

type ButtonProps = {
  readonly onClick: (event: MouseEvent) => void;
  /** What is beside the icon; without it `label` is read to those who see no icon. */
  readonly children?: ComponentChildren;
  readonly icon?: IconName;
  readonly label?: string;
  /** `primary` once in a view: what it is for. */
  readonly kind?: 'plain' | 'primary' | 'quiet' | 'danger';
  readonly disabled?: boolean;
  /** Whether it is pressed in, for one that switches something. */
  readonly isPressed?: boolean;
  /** Whether what it opens is open. */
  readonly isExpanded?: boolean;
  readonly buttonRef?: Ref<HTMLButtonElement>;
};

export function Button(props: ButtonProps) {
  const { onClick, children, icon, label, kind = 'plain', disabled = false } = props;
  return (
    <button
      type="button"
      ref={props.buttonRef ?? null}
      class={`button ${kind}${children === undefined ? ' bare' : ''}`}
      onClick={onClick}
      disabled={disabled}
      aria-label={label}
      title={label}
      aria-pressed={props.isPressed}
      aria-expanded={props.isExpanded}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
