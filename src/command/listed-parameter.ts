import { z } from 'zod';
import { PARAMETER_TYPES, type ParameterDefinition } from '../definition/definition.ts';
import { parameterText } from '../definition/definition-text.ts';
import { shownText } from '../shown-text.ts';

/** A parameter in a service's list. */
export const LISTED_PARAMETER = z
  .object({
    name: z.string(),
    type: z.enum(PARAMETER_TYPES),
    required: z.boolean(),
    default: z.string().optional(),
    enum: z.array(z.string()).optional(),
    from: z.array(z.string()).default([]),
  })
  .transform(
    ({ name, type, required, default: given, enum: values, from }): ParameterDefinition => {
      return { name, type, required, default: given, values, from };
    },
  );

/**
 * Lists the parameters of definitions, one a line, in the syntax of definition files. The name of the
 * definition stands beside its first parameter.
 */
export function parameterLines(
  definitions: readonly {
    readonly name: string;
    readonly parameters: readonly ParameterDefinition[];
  }[],
): readonly string[] {
  const width = Math.max(0, ...definitions.map(({ name }) => name.length));
  return definitions.flatMap(({ name, parameters }) =>
    parameters.map((parameter, index) => {
      const title = (index === 0 ? name : '').padEnd(width);
      return `  ${title}  ${shownText(parameterText(parameter))}`;
    }),
  );
}
