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
const dayTexts = new Map<number, string>();

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

function textOfDay(day: number): string {
  const known = dayTexts.get(day);
  if (known !== undefined) return known;
  if (dayTexts.size >= DAYS_MAX) dayTexts.clear();
  const text = formatDate(day * DAY_SECONDS).slice(0, DAY_LENGTH);
  dayTexts.set(day, text);
  return text;
}

/** Two digits. */
function writePair(value: number, out: DigitWriter): void {
  if (value < 10) out.raw('0');
  out.number(value);
}
