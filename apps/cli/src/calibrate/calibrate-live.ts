import {
  calibrated,
  type CalibrationRequest,
  isTooFar,
  liveJson,
  liveText,
  nameOf,
  ServerTarget,
  simulatedConfig,
} from '@baton/calibration';
import { type BatonConfig, UsageError } from '@baton/config';
import { claimFile } from '../claim-output';
import { say } from '../say';
import { StopRequests } from '../up/stop-requests';
import { type Flags, readCalibrateFlags } from './calibrate-flags';
import { readLiveFlags } from './live-flags';
import { type RequestWithFit, withFit } from './default-fit';
import { needsModelAndGpu, withPrecision } from './measured-deployment';
import { writeFile } from './write-file';

/** `baton calibrate --live`: returns the exit code. */
export async function calibrateLive(given: Flags): Promise<number> {
  const requested = readCalibrateFlags(given);
  const live = readLiveFlags(given);
  if (requested.inputs.length > 0)
    throw new UsageError('--live measures a cluster. Remove --input.');
  const { request, whyFit } = fitFor(given, requested, simulatedConfig(live));
  claimFile(request.out, '--out');
  claimFile(live.savePoints, '--save-points');
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
        request,
        whyFit,
        live,
        name: nameOf(live.server),
        maxModelLen,
        say,
        write: writeFile,
      });
      process.stdout.write(request.json ? liveJson(result) : liveText(result));
      return isTooFar(result, live.maxError) ? 1 : 0;
    } finally {
      await target.close();
    }
  } finally {
    stops.stopListening();
  }
}

/**
 * The fit of a measured server. A surface takes all points of the grid, because its pieces lie
 * between them; factors hold some points out.
 */
function fitFor(given: Flags, requested: CalibrationRequest, config: BatonConfig): RequestWithFit {
  if (requested.options.fit === 'factors') needsModelAndGpu(given);
  const found = withFit(given, withPrecision(requested, config), config);
  const { options } = found.request;
  if (options.fit === 'factors' || given['holdOut'] !== undefined) return found;
  return { ...found, request: { ...found.request, options: { ...options, holdOutEvery: 0 } } };
}
