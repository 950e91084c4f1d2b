import { readFrame } from '@baton/contract';
import { channels, type Transport } from '@baton/transport';

/**
 * Listens beside the API to the token frames and keeps when the engine says each token was made.
 * Streams are told apart by their number in order of admission, so a client that opens one after
 * the other knows which is which.
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

  /** Wall ms (performance.now) of the token, or undefined when no frame has brought it. */
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
