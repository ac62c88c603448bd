import { eventNames } from './sender.ts';
import type { Exchange } from './tap.ts';

/** Each item of a bulk has a status of its own. */
export function acknowledgedByItems({
  status,
  requestBody,
  responseBody,
}: Exchange): readonly string[] {
  if (status !== 200 || !requestBody.includes('\n')) return [];
  const { items } = JSON.parse(responseBody.toString()) as {
    readonly items: readonly Readonly<Record<string, { readonly status: number }>>[];
  };
  const documents = requestBody
    .toString()
    .split('\n')
    .filter((line) => line.trim() !== '')
    .filter((_line, index) => index % 2 === 1);
  return items.flatMap((item, index) =>
    Object.values(item)[0]!.status < 300 ? eventNames(documents[index]!) : [],
  );
}
