import { PARAMETER_TYPES, type ParameterType, type QueryParameter } from '../../api/query.ts';
import { Field, Select } from '../../components/field.tsx';

/** The values of the parameters that the text names. */
export function ParameterForm(props: {
  readonly parameters: readonly QueryParameter[];
  readonly onChange: (parameter: QueryParameter) => void;
}) {
  const { parameters, onChange } = props;
  if (parameters.length === 0) return null;
  return (
    <div class="query-parameters">
      {parameters.map((parameter) => (
        <div key={parameter.name} class="query-parameter">
          <Field label={`@${parameter.name}`}>
            <input
              class="input"
              value={parameter.value}
              onInput={(event) => onChange({ ...parameter, value: event.currentTarget.value })}
            />
          </Field>
          <Field label={`Type of @${parameter.name}`} isLabelHidden>
            <Select
              value={parameter.type}
              options={PARAMETER_TYPES.map((type) => [type, type] as const)}
              onChange={(type) => onChange({ ...parameter, type: type as ParameterType })}
            />
          </Field>
        </div>
      ))}
    </div>
  );
}
