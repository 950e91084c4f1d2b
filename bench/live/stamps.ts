import { readFrame } from '@baton/contract';
import { channels, type Transport } from '@baton/transport';

/**
 * Reads the token frames beside the API and keeps the engine's stamp of each token. The number in
 * order of admission identifies a stream, so a client that opens streams one after another can
 * match them.
 */
export class Stamps {
  private readonly order = new Map<number, number>();
  private readonly madeMs: Float64Array[] = [];

  constructor(private readonly tokensPerStream: number) {}

  async listen(transport: Transport, apiId: string): Promise<void> {
    await transport.bus.subscribe(channels.api(apiId), (frame) => {
      readFrame(frame, (entry, header) => {
        if (entry.kind !== 'tokens' && entry.kind !== 'end') return;
        const times = this.timesOf(entry.streamId);
        const first = entry.kind === 'end' ? entry.first - entry.count : entry.first;
        const atMs = (header.stepEndUs + entry.offsetUs) / 1000 - performance.timeOrigin;
        for (let i = first; i < first + entry.count; i += 1) times[i] ||= atMs;
      });
    });
  }

  /** Wall ms (performance.now) of the token. Undefined before its frame. */
  madeAtMs(stream: number, token: number): number | undefined {
    return this.madeMs[stream]?.[token] || undefined;
  }

  private timesOf(streamId: number): Float64Array {
    let stream = this.order.get(streamId);
    if (stream === undefined) {
      stream = this.order.size;
      this.order.set(streamId, stream);
      this.madeMs.push(new Float64Array(this.tokensPerStream));
    }
    return this.madeMs[stream] ?? new Float64Array(0);
  }
}
