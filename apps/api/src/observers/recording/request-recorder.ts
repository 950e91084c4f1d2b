import { wallUsOf } from '@baton/clock';
import type { LineFile } from '@baton/telemetry';
import { traceLine } from '@baton/workload';
import { Injectable } from '@nestjs/common';
import { ClusterView } from '../../cluster/cluster-view';
import { CallClasses } from '../../http/access/call-classes';
import { ApiIdentity, Config, Log } from '../../tokens';
import type {
  End,
  ObservedRequest,
  ObservedSequence,
  RequestObserver,
  TokenNews,
} from '../port/port';
import { Gaps } from './gaps';
import { outsideDecision } from './outside-decision';
import { recordedRow } from './recorded-row';
import { openRecording } from './recording-file';

/**
 * Writes one line per sequence that has ended (`record`): its request, its engines and the times of
 * its events.
 */
@Injectable()
export class RequestRecorder implements RequestObserver {
  readonly isOn: boolean;
  private readonly gaps = new Map<ObservedSequence, Gaps>();
  private file: LineFile | undefined;
  private startedUs = 0;
  private lines = 0;

  constructor(
    private readonly config: Config,
    private readonly identity: ApiIdentity,
    private readonly logger: Log,
    private readonly classes: CallClasses,
    private readonly cluster: ClusterView,
  ) {
    this.isOn = config.record !== undefined;
  }

  /** @throws UsageError when the file cannot be written */
  async start(): Promise<void> {
    const { config, logger: log } = this;
    if (config.record === undefined) return;
    this.startedUs = wallUsOf();
    const { apiId } = this.identity;
    const parts = { config, apiId, startedUs: this.startedUs, log };
    this.file = await openRecording(config.record, parts);
    log.info({ file: this.file?.path }, 'recording requests');
  }

  async stop(): Promise<void> {
    if (this.file === undefined) return;
    await this.file.close();
    this.logger.info({ file: this.file.path, requests: this.lines }, 'recorded');
    this.file = undefined;
  }

  opened({ sequences }: ObservedRequest): void {
    for (const sequence of sequences) this.gaps.set(sequence, new Gaps());
  }

  tokens(sequence: ObservedSequence, { from, nowMs, previousMs }: TokenNews): void {
    if (from === 0) return;
    const gapUs = wallUsOf(nowMs) - wallUsOf(previousMs);
    this.gaps.get(sequence)?.add(gapUs * this.config.speedup);
  }

  ended(sequence: ObservedSequence, end: End, request: ObservedRequest): void {
    const { file, startedUs, classes } = this;
    const gaps = this.gaps.get(sequence);
    this.gaps.delete(sequence);
    if (file === undefined || gaps === undefined) return;
    const { speedup, blockSize, recordEndpointHeader: names } = this.config;
    const { headers } = request.call.message;
    const outside = names.length === 0 ? undefined : outsideDecision(names, headers);
    const sloClass = classes.isOn ? classes.find(request.call)?.name : undefined;
    const nameOf = (engineId: string): string => this.cluster.nameOf(engineId);
    const context = { request, gaps, nameOf, outside, sloClass, startedUs, speedup, blockSize };
    file.add(traceLine(recordedRow(sequence, end, context)));
    this.lines += 1;
  }
}
