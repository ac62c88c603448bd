/** Whole number of the environment variable `name`; `otherwise` when it is not set. */
export function numberFrom(name: string, otherwise: number): number {
  const text = process.env[name];
  if (text === undefined || text === '') return otherwise;
  if (!/^\d{1,10}$/.test(text)) throw new Error(`${name} must be a whole number; got "${text}"`);
  return Number(text);
}
