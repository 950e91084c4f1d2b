import { UsageError } from '@baton/config';
import type { BatonError } from '@baton/contract';
import { LineFile } from '@baton/telemetry';
import { Injectable } from '@nestjs/common';
import { renderErrorAt } from '../../http/error-renderer';
import type { WireTap } from '../../http/wire-tap';
import { ApiIdentity, Config, Log } from '../../tokens';
import type { ObservedCall, RequestObserver } from '../port/port';
import { ExchangeTap } from './recorded-exchange';
import { pathOfApi } from './recording-file';
import { FrameLogTap, joined } from './wire-log';

/** The files with the bytes sent to clients: `log_frames` and `record_answers`. */
@Injectable()
export class WireTaps implements RequestObserver {
  readonly isOn: boolean;
  private frames: LineFile | undefined;
  private exchanges: LineFile | undefined;

  constructor(
    private readonly config: Config,
    private readonly identity: ApiIdentity,
    private readonly logger: Log,
  ) {
    this.isOn = config.logFrames !== undefined || config.recordAnswers !== undefined;
  }

  /** @throws UsageError when a file cannot be written */
  async start(): Promise<void> {
    const { logFrames, recordAnswers } = this.config;
    this.frames = await this.open(logFrames);
    this.exchanges = await this.open(recordAnswers);
  }

  async stop(): Promise<void> {
    await this.frames?.close();
    await this.exchanges?.close();
    this.frames = undefined;
    this.exchanges = undefined;
  }

  /** Records the error that answers the call, as if it were written to a tap. */
  refused(call: ObservedCall, error: BatonError): void {
    const tap = this.tapFor(call);
    if (tap === undefined) return;
    const { status, headers, body } = renderErrorAt(call.message.url, error, this.config.dialect);
    tap.head(status, headers);
    tap.bytes(body);
    tap.endAnswer();
  }

  /** The listener to the answer of this call, if any. */
  tapFor(call: ObservedCall): WireTap | undefined {
    const { frames, exchanges } = this;
    if (frames === undefined && exchanges === undefined) return undefined;
    return joined([
      ...(frames === undefined ? [] : [new FrameLogTap(frames, call.requestId)]),
      ...(exchanges === undefined ? [] : [new ExchangeTap(exchanges, call)]),
    ]);
  }

  /** A file of another API process is not touched; this process writes beside it. */
  private async open(path: string | undefined): Promise<LineFile | undefined> {
    if (path === undefined) return undefined;
    const { logger } = this;
    const file =
      (await LineFile.open(path, 'new', logger)) ??
      (await LineFile.open(pathOfApi(path, this.identity.apiId), 'new', logger));
    if (file === undefined) throw new UsageError(`${path} already exists. Choose another file.`);
    logger.info({ file: file.path }, 'recording the answers to clients');
    return file;
  }
}
