/** What a pattern comes to for all strings of one kind, one byte each. Whatever fills the holes, they match. */
export const ALWAYS = 1;
/** … they do not. */
export const NEVER = 2;
/** … what fills the holes decides. */
export const OPEN = 3;

/** Not asked for yet. */
export const UNSET = 0;
