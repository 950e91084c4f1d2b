import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fitKvTransfer } from '../fits/kv-transfer-fit';
import { textIn } from '@baton/kernel';
import { fitSteps } from '../profiling/fit-steps';
import { profileYaml } from '../files/profile-yaml';
import type { Result } from '../profiling/report';
import type { CalibrationRequest } from '../profiling/request';
import type { Counters } from './counters';
import { engineTimes, type Measurements, wholePrompts } from './decompose';
import { measureContention, measureFollowed } from './disturbance';
import { HeldOutLoad, planLoad } from './held-out';
import type { LiveRequest } from './live-request';
import type { LiveResult } from './live-result';
import type { LoadPlan } from './load-plan';
import { GridRounds } from './measure';
import type { Measuring } from './measuring';
import { pointsCsv } from './points-csv';
import { reasonsOf } from './reasons';
import type { LiveTarget } from './target';
import { type EngineCounts, engineCounts, topologyOf } from './topology-of';

/** Inputs of a measurement besides the cluster. */
export interface LiveSetup {
  readonly request: CalibrationRequest;
  /** The reason for the form of the fit, if no flag chose it. */
  readonly whyFit?: string | undefined;
  readonly live: LiveRequest;
  /** A description of the measured server. */
  readonly name: string;
  readonly maxModelLen: number;
  readonly say: (sentence: string) => void;
  /**
   * Writes a file that the user requested, or one for the simulated engines. @throws when it cannot
   */
  readonly write: (path: string, content: string, what: 'profile' | 'points') => void;
}

/** Measures a cluster, fits a profile, and checks it on a load outside of the fit. */
export async function calibrated(target: LiveTarget, setup: LiveSetup): Promise<LiveResult> {
  const { request, live, name } = setup;
  const counters = await target.counters();
  const topology = topologyOf(textIn(live.cluster['topology']), counters);
  const engines = engineCounts(topology);
  const measuring = { target, rounds: live.rounds, maxModelLen: setup.maxModelLen, say: setup.say };
  const grid = new GridRounds(measuring, { ...live, ...request.input }, engines);
  const load = await takeTurns(setup, { target, grid, engines });
  const measured = await grid.finishRounds();
  const times = engineTimes(measured);
  const base: Result = {
    request: { ...request, inputs: [name] },
    inputs: [{ steps: times.steps, format: 'live' }],
    calibration: fitSteps(times.steps, { options: { ...request.options, pieces: 'all' } }),
    transfer: times.transfers.length > 0 ? fitKvTransfer(times.transfers) : undefined,
    requestMs: times.overheadMs,
    ...(setup.whyFit !== undefined && { whyFit: setup.whyFit }),
  };
  if (live.savePoints !== undefined) setup.write(live.savePoints, pointsCsv(times.steps), 'points');
  if (request.out !== undefined) setup.write(request.out, profileYaml(base), 'profile');
  const found = { base, name, topology, measured, times };
  if (load === undefined) return { ...found, load };
  const heldOut = withProfile(base, setup, (profile) =>
    load.compareWithTwin({
      profile,
      transfers: base.transfer,
      overheadMs: times.overheadMs,
      cluster: { ...live.cluster, topology },
      configFile: live.configFile,
      reported: reportedBy(setup, counters),
    }),
  );
  setup.say('two requests at once');
  const { calibration } = base;
  const disturbed = await disturbances(measuring, measured);
  const reasons = reasonsOf({ measured, times, calibration, heldOut, ...disturbed });
  return { ...found, load: { heldOut, reasons } };
}

interface Turns {
  readonly target: LiveTarget;
  readonly grid: GridRounds;
  readonly engines: EngineCounts;
}

/**
 * After each round of the grid it sends a piece of the load outside of the fit, so that a slow
 * phase of the machine affects both.
 */
async function takeTurns(
  { live, request, say }: LiveSetup,
  { target, grid, engines }: Turns,
): Promise<HeldOutLoad | undefined> {
  const { rounds, load: wanted } = live;
  let load: HeldOutLoad | undefined;
  await grid.open();
  const beganMs = performance.now();
  for (let round = 1; round <= rounds; round++) {
    await grid.round();
    if (wanted.requests > 0) {
      load ??= new HeldOutLoad(target, planned(grid.measured()), rounds);
      await load.send();
    }
    const leftS = ((performance.now() - beganMs) / 1_000 / round) * (rounds - round);
    say(`round ${round} of ${rounds}, about ${Math.ceil(leftS)} s left`);
  }
  return load;

  function planned(measured: Measurements): LoadPlan {
    const facts = { measured, times: engineTimes(measured), engines, seed: request.options.seed };
    return planLoad(wanted, facts);
  }
}

/** The delays that requests cause each other beyond those of the model. */
async function disturbances(measuring: Measuring, measured: Measurements) {
  const prompts = wholePrompts(measured);
  const middle = prompts[Math.floor(prompts.length / 2)]!;
  return {
    contention: measured.isHandedOver ? await measureContention(measuring, measured) : undefined,
    followed: await measureFollowed(measuring, middle),
  };
}

/** The server's own figures of its size, for the simulated one. */
function reportedBy({ maxModelLen }: LiveSetup, counters: Counters | undefined) {
  const { kvBlocks } = counters ?? {};
  return {
    ...(Number.isFinite(maxModelLen) ? { maxModelLen: String(maxModelLen) } : {}),
    ...(kvBlocks === undefined
      ? {}
      : { numGpuBlocksOverride: String(kvBlocks.blocks), blockSize: String(kvBlocks.tokens) }),
  };
}

/** The simulated engines read the profile from a file, like all engines. */
function withProfile<T>(base: Result, { write }: LiveSetup, use: (path: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'baton-calibrate-'));
  try {
    const path = join(folder, 'profile.yaml');
    write(path, profileYaml(base), 'profile');
    return use(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
