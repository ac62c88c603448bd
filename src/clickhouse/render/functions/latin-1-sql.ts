/** BYTES as a text of one character each, which regular expressions look at. */
export function latin1(bytes: string): string {
  return `convertCharset(${bytes}, 'iso-8859-1', 'utf-8')`;
}

/** The BYTES of such a text. */
export function bytesOfLatin1(text: string): string {
  return `convertCharset(${text}, 'utf-8', 'iso-8859-1')`;
}
