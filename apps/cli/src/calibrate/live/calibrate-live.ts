import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fitKvTransfer } from '@baton/hardware';
import { UsageError } from '@baton/runtime';
import { say } from '../../say';
import { StopRequests } from '../../up/stop-requests';
import { type CalibrateFlags, type Flags, readCalibrateFlags } from '../calibrate-flags';
import { fitSteps, writeFile } from '../fit-steps';
import { profileYaml } from '../profile-yaml';
import type { Result } from '../report';
import type { Counters } from './counters';
import { engineTimes, type Measurements, wholePrompts } from './decompose';
import { measureContention, measureDrift, measureFollowed } from './disturbance';
import { planLoad, runHeldOut } from './held-out';
import { type LiveFlags, readLiveFlags } from './live-flags';
import { isTooFar, liveJson, liveText } from './live-report';
import type { LiveResult } from './live-result';
import { measureGrid } from './measure';
import type { Measuring } from './measuring';
import { pointsCsv } from './points-csv';
import { reasonsOf } from './reasons';
import { nameOf, ServerTarget } from './server-target';
import type { LiveTarget } from './target';
import { type EngineCounts, engineCounts, topologyOf } from './topology-of';

/** What `--live` depends on besides the cluster. */
export interface LiveSetup {
  readonly flags: CalibrateFlags;
  readonly live: LiveFlags;
  /** Who is measured, for people. */
  readonly name: string;
  readonly maxModelLen: number;
  say(sentence: string): void;
}

/** `baton calibrate --live`: returns the exit code. */
export async function calibrateLive(given: Flags): Promise<number> {
  const flags = readCalibrateFlags({ holdOut: '0', ...given });
  const live = readLiveFlags(given);
  if (flags.inputs.length > 0) throw new UsageError('--live measures: leave --input out.');
  const stops = new StopRequests();
  stops.second.addEventListener('abort', () => process.exit(1));
  try {
    const target = await ServerTarget.open(live, stops.first);
    try {
      for (const note of target.facts.notes) say(note);
      const maxModelLen = Number(
        live.cluster['maxModelLen'] ?? target.facts.maxModelLen ?? Infinity,
      );
      const result = await calibrated(target, {
        ...{ flags, live, name: nameOf(live.server), maxModelLen, say },
      });
      process.stdout.write(flags.json ? liveJson(result) : liveText(result));
      return isTooFar(result, live.maxError) ? 1 : 0;
    } finally {
      await target.close();
    }
  } finally {
    stops.close();
  }
}

/** Measures, fits, and tries the fit on a load that it has not seen. */
export async function calibrated(target: LiveTarget, setup: LiveSetup): Promise<LiveResult> {
  const { flags, live, name } = setup;
  const counters = await target.counters();
  const topology = topologyOf(textOf(live.cluster['topology']), counters);
  const engines = engineCounts(topology);
  const { rounds } = live;
  const measuring = { target, rounds, maxModelLen: setup.maxModelLen, say: setup.say };
  const measured = await measureGrid(measuring, { ...live, ...flags.input }, engines);
  const times = engineTimes(measured);
  const base: Result = {
    flags: { ...flags, inputs: [name] },
    inputs: [{ steps: times.steps, format: 'live' }],
    calibration: fitSteps(times.steps, { options: { ...flags.options, pieces: 'all' } }),
    transfer: times.transfers.length > 0 ? fitKvTransfer(times.transfers) : undefined,
  };
  if (live.savePoints !== undefined) writeFile(live.savePoints, pointsCsv(times.steps), 'points');
  if (flags.out !== undefined) writeFile(flags.out, profileYaml(base), 'profile');
  const found = { base, name, topology, measured, times };
  const load = await tried({ setup, measuring, engines, found, counters });
  return { ...found, load };
}

interface Trial {
  readonly setup: LiveSetup;
  readonly measuring: Measuring;
  readonly engines: EngineCounts;
  readonly found: Omit<LiveResult, 'load'>;
  readonly counters: Counters | undefined;
}

async function tried(trial: Trial): Promise<LiveResult['load']> {
  const { setup, measuring, engines, found } = trial;
  const { flags, live } = setup;
  if (live.load.requests === 0) return undefined;
  const { base, measured, times } = found;
  const facts = { measured, times, engines, seed: flags.options.seed };
  const plan = planLoad(live.load, facts);
  setup.say(`a load that nothing was fitted to: ${plan.requests} requests`);
  const heldOut = await withProfile(base, (profile) =>
    runHeldOut(measuring.target, plan, {
      ...{ profile, transfers: base.transfer, overheadMs: times.overheadMs },
      config: { ...live.cluster, topology: found.topology },
      configFile: live.configFile,
      told: toldBy(setup, trial.counters),
    }),
  );
  setup.say('two requests at once, and the same points once more');
  const before = referencePoints(measured);
  const contention = engines.prefill > 0 ? await measureContention(measuring, measured) : undefined;
  const followed = await measureFollowed(measuring, before.prompt);
  const drift = await measureDrift(measuring, before);
  const { calibration } = base;
  return {
    heldOut,
    reasons: reasonsOf({ measured, times, calibration, heldOut, contention, followed, drift }),
  };
}

/** What the server says of its size, for the simulated one. */
function toldBy({ maxModelLen }: LiveSetup, counters: Counters | undefined) {
  const { kvBlocks } = counters ?? {};
  return {
    ...(Number.isFinite(maxModelLen) ? { maxModelLen: String(maxModelLen) } : {}),
    ...(kvBlocks === undefined
      ? {}
      : { numGpuBlocksOverride: String(kvBlocks.blocks), blockSize: String(kvBlocks.tokens) }),
  };
}

/** The prompt in the middle of the grid, and its narrowest batch. */
function referencePoints(measured: Measurements) {
  const [prompts, { decode }] = [wholePrompts(measured), measured];
  return { prompt: prompts[Math.floor(prompts.length / 2)]!, decode: decode[0]! };
}

/** The simulated engines read the profile from a file, as all engines do. */
async function withProfile<T>(base: Result, use: (path: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-calibrate-'));
  try {
    const path = join(folder, 'profile.yaml');
    writeFile(path, profileYaml(base), 'profile');
    return await use(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
