import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/**
 * A package of `bench/peers/package.json`, which a checkout has only once it has been measured with:
 * types and tests of weir do without it, so an adapter states what it uses of it as `T`.
 */
export function peerPackage<T>(name: string): T {
  return require(name) as T;
}
