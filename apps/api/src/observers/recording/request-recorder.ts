import type { BatonConfig } from '@baton/config';
import type { FrameEntry, FrameHeader } from '@baton/contract';
import { LineFile, type Logger } from '@baton/telemetry';
import { traceLine } from '@baton/workload';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Sequence } from '../../frames/sequence';
import { sessionKeyOf } from '../../request/route/session-key';
import type { Call } from '../../request/take/call';
import { API_IDENTITY, type ApiIdentity, CONFIG, LOGGER } from '../../tokens';
import type { TokenNews } from '../metrics/request-metrics';
import { EventLog } from './event-log';
import { Observation } from './observation';
import { type End, recordedRow } from './recorded-row';
import { openRecording } from './recording-file';

/**
 * Writes one line per sequence that has ended (`record`): what it was, where it ran and when what came; and what happens to each as it happens (`log_requests`). It sees what the front hears of each sequence anyway, and
 * writes behind its back. Without a file every call returns at once.
 */
@Injectable()
export class RequestRecorder implements OnApplicationShutdown, OnModuleInit {
  private readonly live = new Map<Sequence, Observation>();
  private file: LineFile | undefined;
  private events: EventLog | undefined;
  private startedUs = 0;
  private lines = 0;

  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(API_IDENTITY) private readonly identity: ApiIdentity,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** @throws UsageError when the file cannot be written */
  async onModuleInit(): Promise<void> {
    const { config, logger: log } = this;
    await this.openEvents();
    if (config.record === undefined) return;
    this.startedUs = wallUs(performance.now());
    const { apiId } = this.identity;
    const parts = { config, apiId, startedUs: this.startedUs, log };
    this.file = await openRecording(config.record, parts);
    log.info({ file: this.file?.path }, 'recording requests');
  }

  private async openEvents(): Promise<void> {
    const { logRequests } = this.config;
    if (logRequests === undefined) return;
    // All API processes append to one file, a line at a time.
    const file = await LineFile.open(logRequests, 'append', this.logger);
    if (file !== undefined) this.events = new EventLog(file);
  }

  /** Writes what is not yet written. */
  async onApplicationShutdown(): Promise<void> {
    await this.events?.close();
    this.events = undefined;
    if (this.file === undefined) return;
    await this.file.close();
    this.logger.info({ file: this.file.path, requests: this.lines }, 'recorded');
    this.file = undefined;
  }

  /** Nothing of the call was queued. */
  refused(call: Call, code: string): void {
    this.events?.refused(call, code);
  }

  opened(sequence: Sequence, call: Call): void {
    this.events?.arrived(sequence, call);
    if (this.file === undefined) return;
    const [path = ''] = (call.response.req.url ?? '').split('?');
    this.live.set(sequence, new Observation(path, sessionKeyOf(call)));
  }

  /** It entered a batch for the first time, or was handed over. */
  noted(sequence: Sequence, entry: Readonly<FrameEntry>, header: FrameHeader): void {
    this.events?.noted(sequence, entry, header);
    if (this.file === undefined) return;
    this.live.get(sequence)?.noted(sequence, entry, header);
  }

  /** Tokens of the sequence have just come. */
  tokens(sequence: Sequence, nowMs: number, { from, header, offsetUs }: TokenNews): void {
    if (from === 0) this.events?.firstToken(sequence, header);
    if (this.file === undefined) return;
    const stampedUs = header.stepEndUs + offsetUs;
    this.live.get(sequence)?.tokens(wallUs(nowMs), stampedUs, this.config.speedup);
  }

  /** Called once for each sequence that was opened. */
  ended(sequence: Sequence, end: End): void {
    this.events?.ended(sequence, end);
    const { file, startedUs } = this;
    const seen = this.live.get(sequence);
    if (file === undefined || seen === undefined) return;
    this.live.delete(sequence);
    const { speedup, blockSize } = this.config;
    const context = { startedUs, speedup, blockSize };
    file.add(traceLine(recordedRow(sequence, seen, { ...end, context })));
    this.lines += 1;
  }
}

/** An instant of `performance.now()` as µs since the Unix epoch. */
function wallUs(nowMs: number): number {
  return Math.round((performance.timeOrigin + nowMs) * 1_000);
}
