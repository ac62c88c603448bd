/** Values of a chunk and the groups of their rows. */
export type GroupedNumbers = {
  readonly groups: Int32Array;
  readonly count: number;
  readonly values: Float64Array;
  /** 1 where NULL; `undefined` when none is. */
  readonly nulls: Uint8Array | undefined;
};
