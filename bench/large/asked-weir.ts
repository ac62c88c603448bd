import { must } from '../../engine/assert.ts';
import { BytesClient } from '../bytes-client.ts';
import type { AnswerRow, Question } from '../peers/question.ts';
import { rowsOf, weirCallOf } from '../peers/weir-call.ts';
import type { ServiceProcess } from '../service-process.ts';
import type { AskedEngine } from './asking.ts';

/** Of queries that took too much memory or time, or waited too long. */
const GIVEN_UP: ReadonlySet<number> = new Set([422, 503, 504]);

/** The service, asked over one connection that is kept. */
export class AskedWeir implements AskedEngine {
  readonly name = 'weir';
  readonly #service: ServiceProcess;
  #client: BytesClient | undefined;

  constructor(service: ServiceProcess) {
    this.#service = service;
  }

  async ask(question: Question): Promise<(() => readonly AnswerRow[]) | undefined> {
    // The service closes a connection that nothing was asked on for some seconds.
    if (this.#client === undefined || !this.#client.isOpen) {
      this.#client = await BytesClient.connect(this.#service.url, this.#service.token);
    }
    const { endpoint, parameters } = weirCallOf(question, '');
    const path = `/api/endpoints/${endpoint}?${new URLSearchParams(parameters)}`;
    const { status, body } = await this.#client.send(this.#client.requestFor(path));
    if (GIVEN_UP.has(status)) return undefined;
    if (status !== 200) throw new Error(`${path}: ${status} ${body}`);
    return () => {
      const { result } = JSON.parse(body.toString()) as { readonly result?: unknown };
      return rowsOf(question, JSON.stringify(must(result, 'an answer has rows')));
    };
  }

  readBytes(): number {
    return this.#service.readBytes();
  }

  close(): void {
    this.#client?.close();
  }
}
