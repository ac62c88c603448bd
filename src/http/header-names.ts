/** The header by which a caller names its call. */
export const RUN_ID_HEADER = 'Weir-Query-Id';

/** The header of answers that `max_rows` truncated, with the number of rows left. */
export const TRUNCATED_HEADER = 'Weir-Truncated';
