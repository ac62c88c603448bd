import { useState } from 'preact/hooks';
import type { EndpointInfo, EndpointParameter } from '../../api/endpoints.ts';
import { Field, Select } from '../../components/field.tsx';

/** In the fragment the values of a query have this before their names. */
const PREFIX = 'p.';

/** Values by the names of parameters. */
export type CallValues = Readonly<Record<string, string>>;

export function listParameters(endpoint: EndpointInfo): readonly EndpointParameter[] {
  return [...endpoint.parameters, ...(endpoint.inherited_parameters ?? [])];
}

/** The values that the address of the page has for a query. */
export function givenValues(endpoint: EndpointInfo, parameters: CallValues): CallValues {
  return Object.fromEntries(
    listParameters(endpoint).map(({ name }) => [name, parameters[PREFIX + name] ?? '']),
  );
}

/** The parameters of a query to fill in. */
export function CallForm(props: {
  readonly endpoint: EndpointInfo;
  readonly values: CallValues;
  /** Gets the values as parameters of the address. */
  readonly onCall: (given: CallValues) => void;
}) {
  const { endpoint, onCall } = props;
  const [values, setValues] = useState(props.values);
  const submit = (event: Event): void => {
    event.preventDefault();
    const given = Object.entries(values).map(([name, value]) => [PREFIX + name, value] as const);
    onCall(Object.fromEntries(given));
  };
  return (
    <form class="call-form" onSubmit={submit}>
      {listParameters(endpoint).map((parameter) => (
        <Field
          key={parameter.name}
          label={parameter.required ? `${parameter.name} (required)` : parameter.name}
          hint={makeHint(parameter)}
        >
          <ParameterInput
            parameter={parameter}
            value={values[parameter.name] ?? ''}
            onChange={(value) => setValues({ ...values, [parameter.name]: value })}
          />
        </Field>
      ))}
      <button type="submit" class="button primary">
        Call
      </button>
    </form>
  );
}

function makeHint({ type, default: text }: EndpointParameter): string {
  const kind = type === 'timestamp' ? 'timestamp, UTC' : type;
  return text === undefined || text === '' ? kind : `${kind}, else ${text}`;
}

function ParameterInput(props: {
  readonly parameter: EndpointParameter;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const { parameter, value, onChange } = props;
  const { name, type, required, enum: listed } = parameter;
  const choices = listed ?? (type === 'bool' ? ['true', 'false'] : undefined);
  if (choices !== undefined) {
    const options = choices.map((choice) => [choice, choice] as const);
    const given = { name, value, required, onChange };
    return <Select {...given} options={[['', required ? 'Choose …' : '—'], ...options]} />;
  }
  const attributes = { class: 'input', name, required, autocomplete: 'off' } as const;
  if (type === 'timestamp') {
    return (
      <input
        {...attributes}
        type="datetime-local"
        step="1"
        value={value.replace(/Z$/, '').slice(0, 19)}
        onInput={({ currentTarget }) => onChange(inUtc(currentTarget.value))}
      />
    );
  }
  const isNumber = type === 'int64' || type === 'float64';
  return (
    <input
      {...attributes}
      type="text"
      inputMode={isNumber ? 'decimal' : 'text'}
      {...(isNumber && { pattern: type === 'int64' ? '[+\\-]?[0-9]+' : '[+\\-]?[0-9.eE+\\-]+' })}
      value={value}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

/** What a picker gives, as a time in UTC. */
function inUtc(text: string): string {
  return text === '' ? '' : `${text}Z`;
}
