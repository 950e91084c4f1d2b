import { wallUsOf } from '@baton/clock';
import type { LineFile } from '@baton/telemetry';
import type { WireTap } from '../../http/wire-tap';

/**
 * Writes one JSON line per write to a client's event stream (`log_frames`): the exact bytes and the
 * time.
 */
export class FrameLogTap implements WireTap {
  private writes = 0;
  private isStream = false;

  constructor(
    private readonly file: LineFile,
    private readonly requestId: string,
  ) {}

  head(_status: number, headers: Readonly<Record<string, string | number>>): void {
    this.isStream = String(headers['content-type']).startsWith('text/event-stream');
  }

  bytes(text: string): void {
    if (!this.isStream) return;
    const line = { at_us: wallUsOf(), request_id: this.requestId, write: this.writes, bytes: text };
    this.file.add(JSON.stringify(line));
    this.writes += 1;
  }

  endAnswer(): void {
    if (!this.isStream) return;
    this.file.add(JSON.stringify({ at_us: wallUsOf(), request_id: this.requestId, end: true }));
  }
}

/** Several as one; undefined when there is none. */
export function joined(taps: readonly WireTap[]): WireTap | undefined {
  if (taps.length < 2) return taps[0];
  return {
    head: (status, headers) => taps.forEach((tap) => tap.head(status, headers)),
    bytes: (text) => taps.forEach((tap) => tap.bytes(text)),
    endAnswer: () => taps.forEach((tap) => tap.endAnswer()),
  };
}
