import { systemReason } from '../ingest/system-reason.ts';
import type { GrpcServer } from './grpc/grpc-server.ts';
import type { ServiceApp } from './http/app.ts';
import { type DrainOptions, HttpServer } from './http/http-server.ts';
import type { Profile } from './profile.ts';
import type { Settings } from './settings.ts';
import { StartError } from './start-error.ts';

/** The servers of a service: for HTTP, and for gRPC if a setting gives it a port. */
export class Listeners {
  readonly #host: string;
  readonly #http: HttpServer;
  readonly #grpc: GrpcServer | undefined;

  private constructor(host: string, http: HttpServer, grpc?: GrpcServer) {
    this.#host = host.includes(':') ? `[${host}]` : host;
    this.#http = http;
    this.#grpc = grpc;
  }

  /** @throws StartError if a port cannot be used, with the others closed again. */
  static async open(
    app: ServiceApp,
    { host, port, otlpGrpcPort }: Settings,
    profile: Profile,
  ): Promise<Listeners> {
    const http = await listen({ name: 'PORT', host, port }, (address) =>
      HttpServer.listen(app, address, profile),
    );
    if (otlpGrpcPort === undefined) return new Listeners(host, http);
    try {
      // Loaded only here: a service without the setting starts without Node's HTTP/2.
      const { GrpcServer } = await import('./grpc/grpc-server.ts');
      const address = { name: 'OTLP_GRPC_PORT', host, port: otlpGrpcPort };
      const grpc = await listen(address, (to) => GrpcServer.listen(app.grpc, to));
      return new Listeners(host, http, grpc);
    } catch (error) {
      await http.drain({ drainMs: 0 });
      throw error;
    }
  }

  get url(): string {
    return `http://${this.#host}:${this.#http.port}`;
  }

  /** Address and port for OpenTelemetry's protocol over gRPC, if it has a port. */
  get otlpGrpc(): string | undefined {
    return this.#grpc === undefined ? undefined : `${this.#host}:${this.#grpc.port}`;
  }

  /** Stops the servers, as `HttpServer.drain` does. */
  async drain(options: DrainOptions): Promise<void> {
    await Promise.all([this.#http.drain(options), this.#grpc?.drain(options)]);
  }
}

async function listen<T>(
  { name, host, port }: { readonly name: string; readonly host: string; readonly port: number },
  open: (address: { readonly host: string; readonly port: number }) => Promise<T>,
): Promise<T> {
  try {
    return await open({ host, port });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    const reason = LISTEN_REASONS.get(String(code)) ?? systemReason(cause);
    throw new StartError(`${name} ${port} on HOST ${host} cannot be used: ${reason}`, cause);
  }
}

const LISTEN_REASONS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'another program uses it'],
  ['EACCES', 'it requires more privileges'],
  ['EADDRNOTAVAIL', 'this machine has no such address'],
  ['ENOTFOUND', 'the name has no address'],
]);
