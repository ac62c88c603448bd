import { must } from '../../engine/assert.ts';
import { BytesClient } from '../bytes-client.ts';
import { HttpClient } from '../http-client.ts';
import { readSource } from '../service-reading.ts';
import { KINDS, type Kind } from '../workload/workload.ts';
import { PEERS } from './peer-list.ts';
import { partOf } from './weir-folders.ts';
import { startWeir } from './weir-service.ts';

/** Where events are sent to, one text at a time from each sender. */
export interface Door {
  /** What sends a text: it is durable once that has resolved. */
  prepare(text: string): () => Promise<void>;
  /** How many events queries see. */
  count(): Promise<number>;
  close(): Promise<void>;
}

/** weir's HTTP door: posts of JSON, over as many connections as there are senders. */
export async function openWeirDoor(
  folder: string,
  to: { readonly kind: Kind; readonly perText: number; readonly senderCount: number },
  options: { readonly isUncompiled: boolean },
): Promise<Door> {
  // The data's times lie in a week of which the service's clock shows the end.
  const { isUncompiled } = options;
  const service = await startWeir(partOf(to.kind), { folder, environment: {}, isUncompiled });
  const { source } = KINDS.get(to.kind)!;
  const path = `/api/logs?source_name=${encodeURIComponent(source)}`;
  const free = await Promise.all(
    Array.from({ length: to.senderCount }, () => BytesClient.connect(service.url, service.token)),
  );
  const all = [...free];
  return {
    prepare: (text) => {
      const json = text.slice(0, -1).replaceAll('\n', ',');
      const bytes = all[0]!.postFor(path, Buffer.from(to.perText === 1 ? json : `[${json}]`));
      return async () => {
        const client = must(free.pop(), 'there is a connection for each sender');
        await client.post(bytes);
        free.push(client);
      };
    },
    count: async () => {
      const client = new HttpClient(service.url, service.token, 1);
      const { events } = await readSource(client, source);
      client.close();
      return events;
    },
    close: async () => {
      for (const client of all) client.close();
      await service.kill();
    },
  };
}

/** A peer's own door; `undefined` when it has none. */
export async function openPeerDoor(
  name: string,
  folder: string,
  kind: Kind,
): Promise<Door | undefined> {
  const make = PEERS.get(name);
  if (make === undefined) throw new Error(`there is no peer ${name}`);
  const intake = await (await make()).openIntake?.(folder, kind);
  if (intake === undefined) return undefined;
  return {
    prepare: (text) => () => intake.post(text),
    count: () => intake.count(),
    close: () => intake.close(),
  };
}
