import type { WireEvent } from './event-texts.ts';
import { ObjectText } from './json-text.ts';

/** The labels of a stream. `json` is the text of an object, `project` that of the label `project`. */
export type LokiLabels = { readonly json: string; readonly project: string | undefined };

/** Collects the labels of a stream. */
export class LokiLabelList {
  readonly #labels = new ObjectText();
  #project: string | undefined;

  /** `json`: the text of the value. */
  add(name: string, json: string): void {
    this.#labels.add(name, json);
    if (name === 'project') this.#project = json;
  }

  done(): LokiLabels {
    return { json: this.#labels.toString(), project: this.#project };
  }
}

/**
 * One line of a stream. The line is the message, the labels are `metadata.labels`, and the structured metadata of a line
 * is `metadata.structured_metadata`. The label `project` names the project. All parts are JSON texts.
 */
export function lokiEvent(
  labels: LokiLabels,
  line: {
    /** A string: nanoseconds since 1970. */
    readonly time: string | undefined;
    readonly text: string | undefined;
    /** An object. */
    readonly structuredMetadata?: string | undefined;
  },
): WireEvent {
  const metadata = new ObjectText()
    .add('labels', labels.json)
    .add('structured_metadata', line.structuredMetadata);
  return {
    timestamp: line.time,
    message: line.text,
    project: labels.project,
    metadata: metadata.toString(),
  };
}
