import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { must } from '../../engine/assert.ts';
import { packageRoot } from '../../src/package-root.ts';
import { readText } from '../support/source-files.ts';
import { packageArchive } from './package-archive.ts';

/** A package as `package-lock.json` has it. */
type LockedPackage = {
  readonly version: string;
  readonly dev?: boolean;
  readonly dependencies?: object;
  readonly optionalDependencies?: object;
  readonly peerDependencies?: object;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
};

/** All that are installed here, by their folders. */
const { packages: PACKAGES } = JSON.parse(readText('package-lock.json')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};

/** The path below which archives are: behind it stands the folder of a package. */
const ARCHIVES = '/archives/';

/**
 * A registry of npm's on the loopback, so that an installation needs no other network: it has what weir needs at run
 * time, each package in the version that is installed here.
 */
export class LoopbackRegistry {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<LoopbackRegistry> {
    const server = createServer((request, response) => {
      answer(request, response).catch((error: unknown) => {
        response.statusCode = 500;
        response.end(String(error));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new LoopbackRegistry(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = decodeURIComponent(must(request.url));
  const folder = path.slice(ARCHIVES.length);
  if (path.startsWith(ARCHIVES) && PACKAGES[folder] !== undefined) {
    response.end(await packageArchive(join(packageRoot(), folder)));
    return;
  }
  const document = packageDocument(path.slice(1), `http://${request.headers.host}${ARCHIVES}`);
  response.statusCode = document === undefined ? 404 : 200;
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(document ?? {}));
}

/** A registry's description of a package; nothing where weir does not need it. */
function packageDocument(name: string, archives: string): object | undefined {
  const versions = new Map<string, object>();
  for (const [folder, locked] of Object.entries(PACKAGES)) {
    const isNamed = folder.endsWith(`node_modules/${name}`);
    if (!isNamed || locked.dev === true) continue;
    const { version, dependencies, optionalDependencies, peerDependencies, os, cpu, libc } = locked;
    const dist = { tarball: archives + encodeURIComponent(folder) };
    const needs = { dependencies, optionalDependencies, peerDependencies };
    versions.set(version, { name, version, ...needs, os, cpu, libc, dist });
  }
  const [latest] = versions.keys();
  if (latest === undefined) return undefined;
  return { name, 'dist-tags': { latest }, versions: Object.fromEntries(versions) };
}
