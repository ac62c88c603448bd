import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { LogRecord, RunningSender } from './sender.ts';

/** Where `unpack-daemons.sh` puts Debian's packages. */
const ROOT = resolve('test/senders/debian');

/** Between two looks whether a daemon listens. */
const LOOK_MS = 50;

/** The name of the socket that applications log to, in the sender's folder. */
export const SOCKET = 'log.sock';

/** Whether the daemons are unpacked. */
export function missingDaemons(): string | undefined {
  return existsSync(join(ROOT, 'usr/sbin'))
    ? undefined
    : 'its daemon is not unpacked: sh test/senders/unpack-daemons.sh';
}

/** What a daemon says its version is; nothing where it is not unpacked. */
export function daemonVersion(program: string, option: string): string | undefined {
  if (missingDaemons() !== undefined) return undefined;
  const text = execFileSync(join(ROOT, 'usr/sbin', program), [option], {
    env: environment(),
    encoding: 'utf8',
  });
  return /\d+\.[\d.]*\d/.exec(text)?.[0];
}

/** The folder in which a module lies. */
export function folderOfModule(file: string): string {
  const libraries = join(ROOT, 'usr/lib');
  const found = readdirSync(libraries, { recursive: true, encoding: 'utf8' }).find(
    (path) => basename(path) === file,
  );
  if (found === undefined) throw new Error(`there is no ${file} in ${libraries}`);
  return join(libraries, dirname(found));
}

/**
 * Starts a daemon of syslog in the foreground, and logs to its socket as an application does. `configuration` is
 * written to `daemon.conf` in the folder, for `arguments` to name.
 */
export async function startSyslogProgram(
  program: string,
  options: {
    readonly folder: string;
    readonly configuration: string;
    readonly arguments: readonly string[];
  },
): Promise<RunningSender> {
  const { folder } = options;
  await writeFile(join(folder, 'daemon.conf'), options.configuration);
  const child = spawn(join(ROOT, 'usr/sbin', program), options.arguments, {
    env: environment(),
    stdio: 'pipe',
  });
  const terminal: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => terminal.push(bytes.toString()));
  }
  const exited = once(child, 'close');
  let socket: Socket | undefined;
  while (socket === undefined) {
    if (child.exitCode !== null) throw new Error(`${program} has ended: ${terminal.join('')}`);
    await wait(LOOK_MS);
    socket = await connected(join(folder, SOCKET));
  }
  return {
    log: (record) => void socket.write(`${messageOf(record)}\n`),
    dropped: new Set(),
    terminal: () => terminal.join(''),
    stop: async () => {
      socket.destroy();
      child.kill();
      await exited;
    },
  };
}

function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LD_LIBRARY_PATH: libraryPath() };
}

function libraryPath(): string {
  const folders = ['usr/lib', 'lib'].flatMap((libraries) => {
    const folder = join(ROOT, libraries);
    if (!existsSync(folder)) return [];
    return readdirSync(folder).map((name) => join(folder, name));
  });
  return folders.join(':');
}

/** Nothing as long as nobody listens. */
async function connected(path: string): Promise<Socket | undefined> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return socket;
  } catch {
    return undefined;
  }
}

/** As RFC 5424 has it, in microseconds. */
function messageOf({ message, timeMs = Date.now(), fields = {} }: LogRecord): string {
  const time = new Date(timeMs).toISOString().replace('Z', '000Z');
  const parameters = Object.entries(fields).map(([name, value]) => ` ${name}="${value}"`);
  const data = parameters.length === 0 ? '-' : `[shop@32473${parameters.join('')}]`;
  return `<134>1 ${time} host1 shop 77 made ${data} ${message}`;
}
