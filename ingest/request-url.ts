import {
  KIND_BITS,
  NO_STRING,
  NODE_HEADER_SIZE,
  RECORD,
  RECORD_LIST,
  referenceLength,
  referenceOffset,
  stringReference,
  TEXT,
} from '../engine/columns.ts';
import * as ascii from './ascii.ts';
import type { BodyText } from './body-text.ts';
import { fieldKey, fieldKind, fieldSlotCount, fieldTokenCount } from './duplicate-key.ts';
import { ABSENT, FoundFields } from './found-fields.ts';
import type { KeyTable } from './key-table.ts';
import { HOST_LENGTH_MAX } from './limits.ts';

/** The roles of fields, by lower-case key name; other keys have the role `other`. */
const ROLES = ['other', 'request', 'url', 'path', 'host', 'protocol'] as const;
const UNKNOWN = 0;
const OTHER = 1;
const REQUEST = 2;
const URL = 3;
const PATH = 4;
const HOST = 5;
const PROTOCOL = 6;

/** Bytes of the longest role name; a longer key is not decoded. */
const NAME_SIZE_MAX = 8;

const HTTP = Buffer.from('http://');
const HTTPS = Buffer.from('https://');
const HTTPS_SIZE = 5;

/** Tokens and slots that one URL adds to its event. */
export const URL_TOKENS = 1;
export const URL_SLOTS = 1;

/**
 * Adds `url` to `metadata.request` where the sender left it out, composed of protocol, host and path. A gateway serves
 * the host of the project. `url` becomes the last field of `request`, so the sent fields keep their order. Events are
 * not changed if they have a `url` in any case, no path, or several records as `request`.
 *
 * Because this is a part of admission, the log, segments and answers have the URL as if it had been sent, and queries
 * need no rule for it.
 */
export class RequestUrl {
  readonly #text: BodyText;
  readonly #keys: KeyTable;
  readonly #tokens: Int32Array;
  readonly #slots: Float64Array;
  /** The role of each key of the body; `url` may be added. */
  readonly #roles: Uint8Array;
  /** The number of the key `url`, after the first event was completed. */
  #urlKey: number | undefined;
  /** The fields of the last record searched, by role. */
  readonly #found = new FoundFields(ROLES.length + 1);

  /** The arrays hold the events, and must have room for the URL of every event. */
  constructor(records: {
    readonly text: BodyText;
    readonly keys: KeyTable;
    readonly tokens: Int32Array;
    readonly slots: Float64Array;
  }) {
    this.#text = records.text;
    this.#keys = records.keys;
    this.#tokens = records.tokens;
    this.#slots = records.slots;
    this.#roles = new Uint8Array(records.keys.count + 1);
  }

  /**
   * Completes the `metadata` list at `list`, whose first slot is `slot`. The event is the last in the arrays, which end
   * at `tokenCount` and `slotCount`. If it returns true, one token and one slot were added, and the enclosing
   * containers must count them.
   */
  complete(
    list: number,
    slot: number,
    end: { readonly tokenCount: number; readonly slotCount: number; readonly project: number },
  ): boolean {
    const tokens = this.#tokens;
    const metadata = list + NODE_HEADER_SIZE;
    if (!this.#isOnly(list)) return false;
    this.#findFields(metadata, slot);
    const field = this.#found.at(REQUEST);
    if (field === ABSENT) return false;
    const kind = fieldKind(tokens, field);
    const isList = kind === RECORD_LIST;
    if (kind !== RECORD && !(isList && this.#isOnly(field))) return false;
    const request = isList ? field + NODE_HEADER_SIZE : field;
    const requestSlot = this.#found.getSlot(REQUEST);
    this.#findFields(request, requestSlot);
    if (this.#found.at(URL) !== ABSENT) return false;
    const url = this.#compose(end.project);
    if (url === NO_STRING) return false;
    const at = request + fieldTokenCount(tokens, request);
    const slotAt = requestSlot + fieldSlotCount(tokens, request);
    for (let to = end.tokenCount; to > at; to--) tokens[to] = tokens[to - URL_TOKENS]!;
    this.#urlKey ??= this.#keys.internName('url');
    tokens[at] = (this.#urlKey << KIND_BITS) | TEXT;
    const slots = this.#slots;
    for (let to = end.slotCount; to > slotAt; to--) slots[to] = slots[to - URL_SLOTS]!;
    slots[slotAt] = url;
    for (const node of isList ? [list, metadata, field, request] : [list, metadata, request]) {
      tokens[node + 1] = tokens[node + 1]! + URL_TOKENS;
      tokens[node + 2] = tokens[node + 2]! + URL_SLOTS;
    }
    return true;
  }

  /** Whether a list holds exactly one record. */
  #isOnly(list: number): boolean {
    const tokens = this.#tokens;
    const element = list + NODE_HEADER_SIZE;
    return element + fieldTokenCount(tokens, element) === list + fieldTokenCount(tokens, list);
  }

  /** Of fields whose names differ in case only, the first counts. */
  #findFields(record: number, recordSlot: number): void {
    const tokens = this.#tokens;
    this.#found.clear();
    const end = record + fieldTokenCount(tokens, record);
    let slot = recordSlot;
    for (let at = record + NODE_HEADER_SIZE; at < end; at += fieldTokenCount(tokens, at)) {
      const key = fieldKey(tokens, at);
      const known = this.#roles[key]!;
      const role = known === UNKNOWN ? this.#findRole(key) : known;
      if (role !== OTHER && this.#found.at(role) === ABSENT) this.#found.set(role, at, slot);
      slot += fieldSlotCount(tokens, at);
    }
  }

  #findRole(key: number): number {
    const reference = this.#keys.getReference(key);
    const start = referenceOffset(reference);
    const length = referenceLength(reference);
    const name = length > NAME_SIZE_MAX ? '' : this.#text.utf8(start, start + length).toLowerCase();
    const index = (ROLES as readonly string[]).indexOf(name);
    const role = index < 0 ? OTHER : index + 1;
    this.#roles[key] = role;
    return role;
  }

  /** Appends the URL to the body's text; NO_STRING if path or host are missing. */
  #compose(project: number): number {
    const path = this.#findText(PATH);
    if (path === NO_STRING) return NO_STRING;
    const given = this.#findText(HOST);
    const host = isHost(given) ? given : project;
    if (!isHost(host)) return NO_STRING;
    const scheme = this.#isHttps(this.#findText(PROTOCOL)) ? HTTPS : HTTP;
    const text = this.#text;
    const isRooted = referenceLength(path) > 0 && text.bytes[referenceOffset(path)] === ascii.SLASH;
    const size = scheme.length + referenceLength(host) + (isRooted ? 0 : 1) + referenceLength(path);
    const start = text.reserve(size);
    const { bytes } = text;
    // Most copies are short: here and below, a loop is faster than `set` or `copyWithin`.
    for (let index = 0; index < scheme.length; index++) bytes[start + index] = scheme[index]!;
    let end = copy(bytes, host, start + scheme.length);
    if (!isRooted) bytes[end++] = ascii.SLASH;
    copy(bytes, path, end);
    return stringReference(start, size);
  }

  #findText(role: number): number {
    const at = this.#found.at(role);
    if (at === ABSENT || fieldKind(this.#tokens, at) !== TEXT) return NO_STRING;
    return this.#slots[this.#found.getSlot(role)]!;
  }

  /** Whether the protocol is `https`, `https:` or `HTTPS/…`. A gateway sends the version only: `HTTP/1.1`. */
  #isHttps(protocol: number): boolean {
    if (protocol === NO_STRING || referenceLength(protocol) < HTTPS_SIZE) return false;
    const { bytes } = this.#text;
    const start = referenceOffset(protocol);
    for (let index = 0; index < HTTPS_SIZE; index++) {
      if ((bytes[start + index]! | 0x20) !== HTTPS[index]) return false;
    }
    const next = bytes[start + HTTPS_SIZE];
    const isWhole = referenceLength(protocol) === HTTPS_SIZE;
    return isWhole || next === ascii.COLON || next === ascii.SLASH;
  }
}

function isHost(reference: number): boolean {
  if (reference === NO_STRING) return false;
  const length = referenceLength(reference);
  return length > 0 && length <= HOST_LENGTH_MAX;
}

/** Copies a string. Returns the end of its copy. */
function copy(bytes: Uint8Array, reference: number, target: number): number {
  const start = referenceOffset(reference);
  const length = referenceLength(reference);
  for (let index = 0; index < length; index++) bytes[target + index] = bytes[start + index]!;
  return target + length;
}
