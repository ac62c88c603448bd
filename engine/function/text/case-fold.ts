/**
 * A text as one that differs from it in the case of letters only becomes, too: Unicode's full case
 * folding. JavaScript has none; what a letter's capital is in small letters is the same but for
 * those below. Letter by letter, for a small sigma at the end of a word has a form of its own.
 */
export function caseFold(text: string): string {
  let folded = '';
  for (const character of text) {
    folded += KEPT.test(character) ? character : character.toUpperCase().toLowerCase();
  }
  return folded;
}

/** The dotless i, whose capital is the one of i, too, and Cherokee, which folds to capitals. */
const KEPT = /[\u0131\u13a0-\u13f5]/u;
