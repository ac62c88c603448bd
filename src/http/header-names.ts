/** The header by which a caller names its call. */
export const RUN_ID_HEADER = 'Weir-Query-Id';

/** The header with the time until which an answer has every event that was acknowledged. */
export const COMPLETE_UNTIL_HEADER = 'Weir-Complete-Until';

/** The header of answers that `max_rows` truncated, with the number of rows left. */
export const TRUNCATED_HEADER = 'Weir-Truncated';
