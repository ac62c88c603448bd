import type { Golden } from './golden-file.ts';
import { googleJson } from './google-value.ts';
import type { WeirAnswer } from './weir-answer.ts';

/** How weir's answer differs from Google's, in a sentence; `undefined` when they agree. */
export function differenceOf(answer: WeirAnswer, golden: Golden): string | undefined {
  if (answer.error !== undefined) {
    return golden.error === undefined
      ? `weir refuses (${answer.error.code}: ${answer.error.message}), Google answers ${rowsText(golden)}`
      : undefined;
  }
  if (golden.error !== undefined) {
    return `weir answers ${answer.rows.join(' ')}, Google refuses (${golden.error})`;
  }
  const names = answer.columns.map(({ name }) => name);
  const wantedNames = golden.columns!.map(([name]) => name);
  if (names.join() !== wantedNames.join()) {
    return `weir names the columns ${names.join()}, Google ${wantedNames.join()}`;
  }
  for (const [index, { name, type }] of answer.columns.entries()) {
    const wanted = golden.columns![index]![1];
    if (!isOpenType(type) && type !== wanted && !(answer.readsEvents && isNumber(type, wanted))) {
      return `weir gives ${name} the type ${type}, Google ${wanted}`;
    }
  }
  const wantedRows = golden.rows!.map(googleJson);
  const [got, wanted] = answer.isOrdered
    ? [answer.rows, wantedRows]
    : [[...answer.rows].sort(), wantedRows.sort()];
  if (got.join('\n') === wanted.join('\n')) return undefined;
  return `weir answers ${got.join(' ')}, Google ${wanted.join(' ')}`;
}

/** weir knows the types of fields by the data only, and gives a bare NULL a type of its own. */
function isOpenType(type: string): boolean {
  return /\b(?:DYNAMIC|NUMBER|NULL)\b/.test(type);
}

/** A whole number written beside a field is read as FLOAT64, whose JSON is the same. */
function isNumber(type: string, wanted: string): boolean {
  return type === 'FLOAT64' && wanted === 'INT64';
}

function rowsText(golden: Golden): string {
  return golden.rows!.map(googleJson).join(' ');
}
