/** One field as it was written: what stands in quotes is not the same as what does not. */
export type CsvField = { readonly text: string; readonly isQuoted: boolean };

/**
 * Reads CSV by the grammar of RFC 4180 §2, with nothing let pass that it does not have: each row ends in
 * CR LF, a quote stands inside of quotes alone, and there twice.
 */
export function parseCsv(text: string): readonly (readonly CsvField[])[] {
  const rows: CsvField[][] = [];
  const field = /"((?:[^"]|"")*)"|([^",\r\n]*)/y;
  let at = 0;
  while (at < text.length) {
    const row: CsvField[] = [];
    for (;;) {
      field.lastIndex = at;
      const found = field.exec(text);
      if (found === null) throw new Error(`no field at ${at} of ${JSON.stringify(text)}`);
      at += found[0].length;
      const [, quoted, bare] = found;
      row.push(
        quoted === undefined
          ? { text: bare!, isQuoted: false }
          : { text: quoted.replaceAll('""', '"'), isQuoted: true },
      );
      if (text[at] !== ',') break;
      at += 1;
    }
    if (!text.startsWith('\r\n', at)) throw new Error(`no end of a row at ${at}`);
    at += 2;
    rows.push(row);
  }
  return rows;
}
