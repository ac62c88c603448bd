/** An expression met a value it has no answer for: the query fails. */
export class Failure extends Error {}

/**
 * A number left the range in which all engines agree on order of evaluation: nothing is said about
 * such a query. Operations that may fail stand only where their evaluation is certain; others are
 * kept from failing by this bound.
 */
export class OutOfRange extends Error {}
