import { keepRecent } from './caches.ts';
import type { Cut } from './excerpt-strings.ts';
import type { JsonWriter } from './json-buffer.ts';
import type { NumbersFooter } from './number-values.ts';
import type { ByteRange } from './skeleton.ts';
import type { Slice } from './slice.ts';
import type { SplitFooter } from './split-shape.ts';
import type { SignatureFooter } from './text-signature.ts';
import type { Dictionary } from './vector.ts';
import { decodeWtf8 } from './wtf8.ts';

/**
 * How the strings of one column are kept: as entries, and codes that name them. Without codes,
 * entry `i` is value `i`; with codes `constant`, entry 0 is every value.
 */
export type StringsFooter = {
  readonly entryCount: number;
  readonly isDistinct: boolean;
  readonly codes: 'constant' | { readonly width: 1 | 2 | 3 | 4; readonly slice: Slice } | null;
  readonly packing: PackingFooter;
  /** Of the values, in the order of their positions: which blocks of them may hold a text. */
  readonly signature?: SignatureFooter | undefined;
};

/**
 * - `plain`: end to end; entry `i` is `bytes[offsets[i], offsets[i + 1])`.
 * - `hex`: lower-case digits, the same number in each: two a byte, the last byte perhaps half used.
 * - `uuid`: the lower-case canonical form: 16 bytes each.
 * - `deflated`: blocks of DEFLATED_BLOCK_ENTRIES entries end to end, each block compressed alone
 *   (RFC 1951). Block `b` is `bytes[blockOffsets[b], blockOffsets[b + 1])`.
 * - `form`: numbers in another dress.
 * - `split`: taken apart into what many have in common and the rest (`split-shape.ts`).
 * - `suffix`: entry `i` is the end of entry `i` of another leaf column, which is plain or split,
 *   without codes: the query of a URL, beside the URL.
 * - `excerpt`: entry `i` is the path, or the query, of entry `i` of another leaf column, which is
 *   split. The positions are the other's: where a row has no value, its skeleton says so.
 */
export type PackingFooter =
  | { readonly kind: 'plain'; readonly bytes: Slice; readonly offsets: Slice }
  | { readonly kind: 'hex'; readonly bytes: Slice; readonly digitCount: number }
  | { readonly kind: 'uuid'; readonly bytes: Slice }
  | {
      readonly kind: 'deflated';
      readonly bytes: Slice;
      readonly blockOffsets: Slice;
      /** Size of each entry. */
      readonly sizes: Slice;
      readonly sizeWidth: 1 | 2 | 4;
      readonly blockEntries: number;
    }
  | { readonly kind: 'form'; readonly form: WordFormName; readonly numbers: NumbersFooter }
  | {
      readonly kind: 'suffix';
      /** Index among the leaf columns. */
      readonly column: number;
      /** Size of each entry. */
      readonly sizes: Slice;
      readonly sizeWidth: 1 | 2 | 4;
    }
  | {
      readonly kind: 'excerpt';
      /** Index among the leaf columns. */
      readonly column: number;
      readonly cut: Cut;
    }
  | SplitFooter;

/**
 * Strings that are a number in another dress. A form gives back exactly the text it took, so a
 * column of such strings is kept as numbers.
 */
export type WordForm = {
  /** The number behind the text; `undefined` when the text is not of this form to the letter. */
  readonly parse: (text: string) => number | undefined;
  readonly format: (value: number) => string;
  /** Writes what `format` gives, without making a string of it. */
  readonly write: (value: number, out: DigitWriter) => void;
};

/** Takes ASCII, and integers as their digits. */
type DigitWriter = { raw(text: string): void; number(value: number): void };

export type WordFormName = 'decimal' | 'ipv4' | 'http-date';

/** Longer digits might not be exact as a double. */
const DECIMAL_LENGTH_MAX = 15;
/** `Thu, 15 Jan 2026 11:55:00 GMT` */
const HTTP_DATE_LENGTH = 29;
export const FORM_LENGTH_MAX = HTTP_DATE_LENGTH;

export const WORD_FORMS: Readonly<Record<WordFormName, WordForm>> = {
  decimal: {
    parse: (text) =>
      text.length <= DECIMAL_LENGTH_MAX && /^(0|[1-9][0-9]*)$/.test(text)
        ? Number(text)
        : undefined,
    format: String,
    write: (value, out) => out.number(value),
  },
  ipv4: { parse: parseAddress, format: formatAddress, write: writeAddress },
  /** IMF-fixdate (RFC 9110, 5.6.7), as seconds since the epoch. */
  'http-date': {
    parse: (text) => {
      if (text.length !== HTTP_DATE_LENGTH || !text.endsWith(' GMT')) return undefined;
      const seconds = Date.parse(text) / 1000;
      return Number.isSafeInteger(seconds) && formatDate(seconds) === text ? seconds : undefined;
    },
    format: formatDate,
    write: writeDate,
  },
};

function parseAddress(text: string): number | undefined {
  if (!/^[0-9]{1,3}(\.[0-9]{1,3}){3}$/.test(text)) return undefined;
  const value = text.split('.').reduce((word, octet) => word * 256 + Number(octet), 0);
  // An octet above 255 or with a leading zero does not come back as it was.
  return formatAddress(value) === text ? value : undefined;
}

function formatAddress(value: number): string {
  return `${Math.floor(value / 2 ** 24)}.${(value >> 16) & 255}.${(value >> 8) & 255}.${value & 255}`;
}

function formatDate(seconds: number): string {
  return new Date(seconds * 1000).toUTCString();
}

function writeAddress(value: number, out: DigitWriter): void {
  out.number(Math.floor(value / 2 ** 24));
  for (let shift = 16; shift >= 0; shift -= 8) {
    out.raw('.');
    out.number((value >> shift) & 255);
  }
}

const DAY_SECONDS = 86_400;
/** `Thu, 15 Jan 2026 ` */
const DAY_LENGTH = 17;
/** Texts of days kept: a year's and some. */
const DAYS_MAX = 512;

function writeDate(seconds: number, out: DigitWriter): void {
  const day = Math.floor(seconds / DAY_SECONDS);
  const second = seconds - day * DAY_SECONDS;
  out.raw(textOfDay(day));
  writePair(Math.floor(second / 3600), out);
  out.raw(':');
  writePair(Math.floor(second / 60) % 60, out);
  out.raw(':');
  writePair(second % 60, out);
  out.raw(' GMT');
}

const textOfDay = keepRecent(DAYS_MAX, (day: number) =>
  formatDate(day * DAY_SECONDS).slice(0, DAY_LENGTH),
);

/** Two digits. */
function writePair(value: number, out: DigitWriter): void {
  if (value < 10) out.raw('0');
  out.number(value);
}

/** What is known of the entries of a column. */
export type EntryFacts = Required<Pick<Dictionary, 'size' | 'isDistinct' | 'isPerValue'>>;

/** Entries of a column of strings; their codes are their indexes. */
export interface StringEntries extends Dictionary {
  value(code: number): string;
  /** The bytes of an entry; good until the next call. */
  range(code: number): ByteRange;
  /** Writes the entry as a JSON string. `isKept` as of `Dictionary`. */
  writeJson(code: number, out: JsonWriter, isKept?: boolean): void;
}

/** Entries that are known by their bytes: what has a shorter way to a text or to JSON says so itself. */
export abstract class StringColumn implements StringEntries {
  readonly size: number;
  readonly isDistinct: boolean;
  readonly isPerValue: boolean;

  constructor({ size, isDistinct, isPerValue }: EntryFacts) {
    this.size = size;
    this.isDistinct = isDistinct;
    this.isPerValue = isPerValue;
  }

  abstract range(code: number): ByteRange;

  value(code: number): string {
    const { bytes, start, end } = this.range(code);
    return decodeWtf8(bytes, start, end);
  }

  writeJson(code: number, out: JsonWriter, _isKept?: boolean): void {
    const { bytes, start, end } = this.range(code);
    out.stringBytes(bytes, start, end);
  }
}
