import type { WireEvent } from './event-texts.ts';
import type { JsonKind, JsonReader } from './json-reader.ts';
import { ObjectText } from './json-text.ts';

/**
 * The members of a document that give an event's time, message and project. Of several names, the first one present
 * counts.
 */
export type DocumentNames = {
  readonly id?: readonly string[];
  readonly timestamp: readonly string[];
  readonly message: readonly string[];
  readonly project: readonly string[];
  /**
   * The name of a member that is an object of further fields. They are treated as fields of the document and take
   * precedence over those. Its `project` counts if the document names none outside of it.
   */
  readonly nested?: string;
};

/** The kinds of values that each member accepts. A member of another kind is an ordinary field. */
const KINDS: Readonly<Record<Member, readonly JsonKind[]>> = {
  id: ['string'],
  timestamp: ['string', 'number'],
  message: ['string'],
  project: ['string'],
};

type Member = Exclude<keyof DocumentNames, 'nested'>;

type Taken = {
  [member in Member]?: { readonly key: string; readonly json: string; readonly rank: number };
};

/**
 * Reads the next object as an event of a sender without weir's format. The members in `names` are extracted, and all
 * others become metadata. A document without a message has the text of its metadata as message.
 */
export function documentEvent(
  reader: JsonReader,
  names: DocumentNames,
  metadata: ObjectText = new ObjectText(),
): WireEvent {
  const taken: Taken = {};
  let nested: Nested | undefined;
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    if (key === names.nested && reader.kind() === 'null') continue;
    if (key === names.nested && reader.kind() === 'object') {
      nested = nestedFields(reader);
      continue;
    }
    const member = findMember(names, key);
    const isTaken = member !== undefined && KINDS[member.name].includes(reader.kind());
    const json = reader.json();
    if (!isTaken) {
      metadata.add(key, json);
      continue;
    }
    const known = taken[member.name];
    if (known === undefined || member.rank <= known.rank) {
      if (known !== undefined) metadata.add(known.key, known.json);
      taken[member.name] = { key, json, rank: member.rank };
    } else metadata.add(key, json);
  }
  // Of duplicate keys, the last counts.
  for (const [key, json] of nested?.fields ?? []) metadata.add(key, json);
  const text = metadata.toString();
  return {
    id: taken.id?.json,
    timestamp: taken.timestamp?.json,
    message: taken.message?.json ?? JSON.stringify(text),
    project: taken.project?.json ?? nested?.project,
    metadata: text,
  };
}

type Nested = {
  readonly fields: readonly (readonly [key: string, json: string])[];
  readonly project: string | undefined;
};

function nestedFields(reader: JsonReader): Nested {
  const fields: [string, string][] = [];
  let project: string | undefined;
  reader.enterObject();
  for (let key = reader.nextKey(); key !== undefined; key = reader.nextKey()) {
    const isProject = key === 'project' && KINDS.project.includes(reader.kind());
    const json = reader.json();
    if (isProject) project = json;
    fields.push([key, json]);
  }
  return { fields, project };
}

function findMember(
  names: DocumentNames,
  key: string,
): { readonly name: Member; readonly rank: number } | undefined {
  for (const name of ['id', 'timestamp', 'message', 'project'] as const) {
    const rank = names[name]?.indexOf(key) ?? -1;
    if (rank >= 0) return { name, rank };
  }
  return undefined;
}
