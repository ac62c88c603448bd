import type { HttpClient } from './http-client.ts';
import { barText } from './measure.ts';
import type { ServiceProcess } from './service-process.ts';
import { readMetrics } from './service-reading.ts';

/** Tells what memory a service took, stage by stage, and what it says of its own. */
export class MemoryMeter {
  readonly #service: ServiceProcess;
  readonly #client: HttpClient;
  /** Of the stages told. */
  #peakBytes = 0;
  /** … of the stage under way. */
  #stagePeakBytes = 0;

  constructor(service: ServiceProcess, client: HttpClient) {
    this.#service = service;
    this.#client = client;
  }

  /** The most resident memory since the stage began, or since this was last called; bytes. */
  takePeakBytes(): number {
    const peakBytes = this.#service.takePeakBytes();
    this.#stagePeakBytes = Math.max(this.#stagePeakBytes, peakBytes);
    return peakBytes;
  }

  /** Of the stage that ends now. */
  async tell(stage: string): Promise<void> {
    this.takePeakBytes();
    const peakBytes = this.#stagePeakBytes;
    this.#stagePeakBytes = 0;
    this.#peakBytes = Math.max(this.#peakBytes, peakBytes);
    const metrics = await readMetrics(this.#client);
    const of = (name: string): number => metrics.get(`weir_memory_${name}`) ?? Number.NaN;
    const segmentBytes = of('bytes{part="blocks"}') + of('bytes{part="unstored"}');
    const exceeded = of('exceeded') === 1 ? ', more than may be' : '';
    console.log(
      `${stage}: ${megabytes(peakBytes)} resident at most, ` +
        `${megabytes(this.#service.residentBytes())} at the end; of sealed segments ` +
        `${megabytes(segmentBytes)} of ${megabytes(of('segment_limit_bytes'))} in memory` +
        `${exceeded}; so far ${of('evicted_blocks_total')} blocks evicted, ` +
        `${megabytes(of('evicted_bytes_total'))}, and ${megabytes(of('passing_bytes_total'))} read for ` +
        'one query alone',
    );
  }

  /** Of all stages. `barBytes`: what there should be at most. */
  tellPeak(barBytes: number | undefined): void {
    const bar =
      barBytes === undefined
        ? ''
        : ` ${barText(`<= ${megabytes(barBytes)}`, this.#peakBytes <= barBytes)}`;
    console.log(`resident memory at any time: ${megabytes(this.#peakBytes)} at most${bar}`);
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
