import type { ScalarFunction } from '../scalar-function.ts';
import { GENERATE_DATE_ARRAY } from './date-array-function.ts';
import { EXTRACT } from './extract-function.ts';
import { intervalFunctions } from './interval-functions.ts';
import { timeBucketFunctions } from './time-bucket-functions.ts';
import { timeConversionFunctions } from './time-conversion-functions.ts';
import { timeShiftFunctions } from './time-shift-functions.ts';
import { timeTextFunctions } from './time-text-functions.ts';

export const timeFunctions: readonly ScalarFunction[] = [
  ...timeConversionFunctions,
  ...timeShiftFunctions,
  EXTRACT,
  ...timeTextFunctions,
  ...intervalFunctions,
  ...timeBucketFunctions,
  GENERATE_DATE_ARRAY,
];
