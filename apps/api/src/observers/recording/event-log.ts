import type { FrameEntry, FrameHeader } from '@baton/contract';
import type { LineFile } from '@baton/telemetry';
import type { Sequence } from '../../frames/sequence';
import type { Call } from '../../request/take/call';
import type { End } from './recorded-row';

type Facts = Readonly<Record<string, string | number | undefined>>;

/**
 * One JSON line per request and event (`log_requests`), as it happens: arrived, refused, scheduled, handed_over, first_token, ended. Instants are µs of the wall clock
 * since the Unix epoch, as this process sees them; `stamped_us` is the engine's.
 */
export class EventLog {
  constructor(private readonly file: LineFile) {}

  arrived({ job, index }: Sequence, call: Pick<Call, 'requestId' | 'message'>): void {
    this.add('arrived', job.requestId, {
      stamped_us: job.arrivalUs,
      request_id: call.requestId,
      endpoint: pathOf(call),
      index,
      flow: job.flow,
      prompt_tokens: job.promptTokens,
      max_tokens: job.maxTokens,
      priority: job.priority,
    });
  }

  /** Nothing of it was queued. */
  refused(call: Pick<Call, 'requestId' | 'message'>, code: string): void {
    this.add('refused', undefined, {
      request_id: call.requestId,
      endpoint: pathOf(call),
      error: code,
    });
  }

  noted({ job }: Sequence, entry: Readonly<FrameEntry>, header: FrameHeader): void {
    const where = { stage: header.stage, engine: header.engineId, stamped_us: header.stepEndUs };
    if (entry.kind === 'handed-over') {
      this.add('handed_over', job.requestId, {
        ...where,
        stamped_us: job.arrivalUs + entry.first,
      });
    } else if (entry.kind === 'scheduled') {
      const cached = { cached_tokens: entry.extra, transferred_tokens: entry.count };
      this.add('scheduled', job.requestId, { ...where, ...cached });
    }
  }

  firstToken({ job }: Sequence, { engineId, stage, stepEndUs }: FrameHeader): void {
    const where = { stage, engine: engineId, stamped_us: stepEndUs };
    this.add('first_token', job.requestId, where);
  }

  ended({ job, received, cachedTokens }: Sequence, { reason, error }: End): void {
    this.add('ended', job.requestId, {
      finish_reason: reason,
      error,
      output_tokens: received,
      cached_tokens: cachedTokens,
    });
  }

  close(): Promise<void> {
    return this.file.close();
  }

  private add(event: string, id: string | undefined, facts: Facts): void {
    this.file.add(JSON.stringify({ at_us: wallUs(), event, id, ...facts }));
  }
}

function pathOf({ message }: Pick<Call, 'message'>): string {
  return (message.url ?? '').split('?', 1)[0] ?? '';
}

function wallUs(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1_000);
}
