import type { Server } from 'node:net';

/** Has a server listen. Rejects with the system's error if it cannot. */
export async function listenAt(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
