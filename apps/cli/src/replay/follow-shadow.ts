import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { simulate } from '@baton/simulation';
import { prepareReplay } from '@baton/replay';
import type { Workload } from '@baton/workload';
import { claimFolder } from '../claim-output';
import { say } from '../say';
import type { ReplayFlags } from './replay-flags';
import { writeFiles } from './result-files';
import { runWatched } from './run-watched';
import { ShadowLog, shadowText } from './shadow';

interface Report {
  readonly shadow: ShadowLog;
  readonly workload: Workload;
}

/**
 * `baton replay --shadow --follow`: replays a trace again while another process writes to it, and
 * prints the report of the decisions whenever there are new ones, until Ctrl-C. It reads a file
 * only when it has grown.
 */
export async function followShadow(flags: ReplayFlags & { shadow: string }): Promise<void> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once('SIGINT', onSignal);
  claimFolder(flags.out, '--out');
  const said = new Set<string>();
  const sayOnce = (sentence: string): void => {
    if (!said.has(sentence)) say(sentence);
    said.add(sentence);
  };
  let printed = 0;
  let bytes: number | undefined;
  while (!stop.signal.aborted) {
    const before = bytes;
    bytes = bytesOf(flags.workload.trace);
    if (bytes === undefined || bytes !== before) {
      printed = await printReport(flags, await reportOf(flags, sayOnce), printed);
    }
    await sleep(flags.followMs, undefined, { signal: stop.signal }).catch(() => undefined);
  }
  process.off('SIGINT', onSignal);
}

/** Undefined: the trace is no file, and may have grown. */
function bytesOf(trace: string | undefined): number | undefined {
  return trace === undefined ? undefined : statSync(trace, { throwIfNoEntry: false })?.size;
}

/** Returns the number of decisions that are printed then. */
async function printReport(
  flags: ReplayFlags,
  { shadow, workload }: Report,
  printed: number,
): Promise<number> {
  const summary = shadow.summary();
  if (summary.decisions <= printed) return printed;
  process.stdout.write(flags.json ? `${JSON.stringify(summary)}\n` : await shadowText(summary));
  if (flags.out !== undefined) {
    await writeFiles(flags.out, [['shadow.csv', shadow.csv(workload)]]);
  }
  return summary.decisions;
}

async function reportOf(
  flags: ReplayFlags & { shadow: string },
  sayOnce: (sentence: string) => void,
): Promise<Report> {
  const { config, scenario, loaded } = await prepareReplay(flags, process.env, () => undefined);
  const shadow = runWatched(config, (call) => {
    const log = new ShadowLog(basename(flags.shadow));
    simulate(scenario, {
      policyWatch: { onFault: ({ message }) => sayOnce(message), call },
      onShadow: (decision) => log.add(decision),
    });
    return log;
  });
  return { shadow, workload: loaded.workload };
}
