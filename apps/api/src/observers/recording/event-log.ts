import { wallUsOf } from '@baton/clock';
import type { BatonError } from '@baton/contract';
import { LineFile } from '@baton/telemetry';
import { Injectable } from '@nestjs/common';
import { ClusterView } from '../../cluster/cluster-view';
import { Config, Log } from '../../tokens';
import type {
  End,
  ObservedCall,
  ObservedRequest,
  ObservedSequence,
  RequestObserver,
  SequenceNote,
  TokenNews,
} from '../port/port';

type Facts = Readonly<Record<string, string | number | undefined>>;

/**
 * One JSON line per request and event (`log_requests`), as it happens: arrived, refused, scheduled,
 * handed_over, first_token, ended. Instants are µs of the wall clock since the Unix epoch, as this
 * process sees them; `stamped_us` is the engine's.
 */
@Injectable()
export class EventLog implements RequestObserver {
  readonly isOn: boolean;
  private file: LineFile | undefined;

  constructor(
    private readonly config: Config,
    private readonly logger: Log,
    private readonly cluster: ClusterView,
  ) {
    this.isOn = config.logRequests !== undefined;
  }

  /** @throws UsageError when the file cannot be written */
  async start(): Promise<void> {
    const { logRequests } = this.config;
    if (logRequests === undefined) return;
    // All API processes append to the same file, one line at a time.
    this.file = await LineFile.open(logRequests, 'append', this.logger);
  }

  async stop(): Promise<void> {
    await this.file?.close();
    this.file = undefined;
  }

  refused(call: ObservedCall, { code }: BatonError): void {
    this.add('refused', undefined, {
      request_id: call.requestId,
      endpoint: pathOf(call),
      error: code,
    });
  }

  opened({ call, sequences }: ObservedRequest): void {
    for (const { job, index } of sequences) {
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
  }

  noted({ job }: ObservedSequence, note: SequenceNote): void {
    const where = {
      stage: note.stage,
      engine: this.cluster.nameOf(note.engineId),
      stamped_us: note.stampedUs,
    };
    if (note.kind === 'handed-over') this.add('handed_over', job.requestId, where);
    else if (note.kind === 'scheduled') {
      const { cachedTokens, transferredTokens } = note;
      const tokens = { cached_tokens: cachedTokens, transferred_tokens: transferredTokens };
      this.add('scheduled', job.requestId, { ...where, ...tokens });
    }
  }

  tokens({ job }: ObservedSequence, { from, header }: TokenNews): void {
    if (from > 0) return;
    const { stage, engineId, stepEndUs } = header;
    const engine = this.cluster.nameOf(engineId);
    this.add('first_token', job.requestId, { stage, engine, stamped_us: stepEndUs });
  }

  ended({ job, received, cachedTokens }: ObservedSequence, { reason, error }: End): void {
    this.add('ended', job.requestId, {
      finish_reason: reason,
      error,
      output_tokens: received,
      cached_tokens: cachedTokens,
    });
  }

  private add(event: string, id: string | undefined, facts: Facts): void {
    this.file?.add(JSON.stringify({ at_us: wallUsOf(), event, id, ...facts }));
  }
}

function pathOf({ message }: ObservedCall): string {
  return (message.url ?? '').split('?', 1)[0] ?? '';
}
