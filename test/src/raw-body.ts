import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { PRIVATE } from './harness.ts';

/** Sends a GET and returns the body's bytes unchanged. */
export async function askBytes(
  app: { readonly port: number },
  what: { readonly path: string; readonly headers?: Readonly<Record<string, string>> },
): Promise<{ readonly headers: IncomingHttpHeaders; readonly body: Buffer }> {
  const request = httpRequest({
    port: app.port,
    host: '127.0.0.1',
    path: what.path,
    agent: false,
    headers: { 'X-API-KEY': PRIVATE, ...what.headers },
  });
  request.end();
  const [response] = await once(request, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { headers: response.headers, body: Buffer.concat(chunks) };
}
