import { createRequire } from 'node:module';
import { resolve } from 'node:path';

/** From the top of the repository, also where this file has been compiled to another folder. */
const require = createRequire(resolve('bench/peers/package.json'));

/**
 * A package of `bench/peers/package.json`, which a checkout has only once it has been measured with:
 * types and tests of weir do without it, so an adapter states what it uses of it as `T`.
 */
export function peerPackage<T>(name: string): T {
  return require(name) as T;
}
