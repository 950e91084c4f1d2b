import { hostname } from 'node:os';
import { parse, join } from 'node:path';
import { type BatonConfig, recordableConfig } from '@baton/config';
import { VERSION } from '@baton/kernel';
import { LineFile, type Logger } from '@baton/telemetry';
import { recordingHeaderLine } from '@baton/workload';

/**
 * Opens a new recording and writes its first line. An existing file, of another API process or of
 * an earlier run of this one, is not touched: this process then writes beside it, with its own id
 * in the name.
 *
 * @throws UsageError when neither can be written
 */
export async function openRecording(
  path: string,
  { config, apiId, startedUs, log }: RecordingParts,
): Promise<LineFile | undefined> {
  const file =
    (await LineFile.open(path, 'new', log)) ??
    (await LineFile.open(pathOfApi(path, apiId), 'new', log));
  const process_ = { host: hostname(), pid: process.pid };
  file?.add(
    recordingHeaderLine({
      version: VERSION,
      startedUs,
      ...process_,
      config: recordableConfig(config),
    }),
  );
  return file;
}

export interface RecordingParts {
  readonly config: BatonConfig;
  readonly apiId: string;
  /** Instant 0, µs since the Unix epoch. */
  readonly startedUs: number;
  readonly log: Logger;
}

/** `run.jsonl` becomes `run.api-0f3a.jsonl`. */
export function pathOfApi(path: string, apiId: string): string {
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}.${apiId}${ext}`);
}
