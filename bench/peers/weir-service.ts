import { must } from '../../engine/assert.ts';
import { programWords } from '../../test/support/program-words.ts';
import { BytesClient } from '../bytes-client.ts';
import { HttpClient } from '../http-client.ts';
import { ServiceProcess } from '../service-process.ts';
import { readSource } from '../service-reading.ts';
import { NOW } from '../workload/clock.ts';
import { KINDS, type Kind } from '../workload/workload.ts';
import type { AnswerRow, Question } from './question.ts';
import type { Subject } from './subject.ts';
import { rowsOf, weirCallOf } from './weir-call.ts';
import type { WeirSubjectOptions } from './weir-engine.ts';
import { dataDirOf, partOf, WEIR_ENVIRONMENT, WEIR_PARTS, type WeirPart } from './weir-folders.ts';

/** Starts the service on what it has of a part, or will have. */
export function startWeir(
  part: WeirPart,
  options: Pick<WeirSubjectOptions, 'folder' | 'environment' | 'isUncompiled'>,
): Promise<ServiceProcess> {
  const command = options.isUncompiled ? programWords('src/main.ts') : ['dist/src/main.js'];
  const environment = { ...WEIR_ENVIRONMENT, ...options.environment, FROZEN_NOW: NOW };
  return ServiceProcess.start(command, environment, dataDirOf(options.folder, part));
}

/** The connection is made anew where the service has closed it: it does where nothing was asked for some seconds. */
type Part = { readonly service: ServiceProcess; client: BytesClient };

type Request = { readonly part: Part; readonly bytes: Buffer };

/** weir's service as a user runs it, asked over one kept connection; it keeps no answers. */
export class WeirService implements Subject {
  readonly quantiles = 'exact';
  readonly #options: WeirSubjectOptions;
  readonly #parts: ReadonlyMap<WeirPart, Part>;
  readonly #requests = new Map<Question, Request>();

  private constructor(options: WeirSubjectOptions, parts: ReadonlyMap<WeirPart, Part>) {
    this.#options = options;
    this.#parts = parts;
  }

  static async open(options: WeirSubjectOptions): Promise<WeirService> {
    const parts = new Map<WeirPart, Part>();
    for (const part of WEIR_PARTS) {
      const service = await startWeir(part, options);
      await service.atRest();
      const client = await BytesClient.connect(service.url, service.token);
      parts.set(part, { service, client });
    }
    return new WeirService(options, parts);
  }

  version(): Promise<string> {
    return Promise.resolve('this checkout');
  }

  async counts(): Promise<ReadonlyMap<Kind, number>> {
    const counts = new Map<Kind, number>();
    for (const kind of this.#options.kinds) {
      const { service } = this.#part(partOf(kind));
      const client = new HttpClient(service.url, service.token, 1);
      const { events } = await readSource(client, KINDS.get(kind)!.source);
      client.close();
      counts.set(kind, events);
    }
    return counts;
  }

  async atRest(): Promise<void> {
    for (const { service } of this.#parts.values()) await service.atRest();
  }

  prepare(question: Question): void {
    this.#request(question);
  }

  async ask(question: Question): Promise<boolean> {
    await this.#ask(question);
    return true;
  }

  async rows(question: Question): Promise<readonly AnswerRow[]> {
    const { result } = JSON.parse((await this.#ask(question)).toString()) as {
      readonly result: readonly unknown[];
    };
    return rowsOf(question, JSON.stringify(result));
  }

  async close(): Promise<void> {
    for (const { client, service } of this.#parts.values()) {
      client.close();
      await service.stop();
    }
  }

  async #ask(question: Question): Promise<Buffer> {
    const { part, bytes } = this.#request(question);
    if (!part.client.isOpen) {
      part.client = await BytesClient.connect(part.service.url, part.service.token);
    }
    return await part.client.ask(bytes);
  }

  #request(question: Question): Request {
    const known = this.#requests.get(question);
    if (known !== undefined) return known;
    const { endpoint, parameters } = weirCallOf(question, this.#options.floatProject);
    const part = this.#part(question.kind === 'logs-all' ? 'full' : 'others');
    const path = `/api/endpoints/${endpoint}?${new URLSearchParams(parameters)}`;
    const request = { part, bytes: part.client.requestFor(path) };
    this.#requests.set(question, request);
    return request;
  }

  #part(part: WeirPart): Part {
    return must(this.#parts.get(part), 'both parts run');
  }
}
