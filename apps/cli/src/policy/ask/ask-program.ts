import { summarise, type Summary } from '@baton/analysis';
import { type ClusterScenario, simulate, mostGpus } from '@baton/simulation';
import { configuredAutoscaler, flagName, UsageError } from '@baton/config';
import { usToSeconds } from '@baton/kernel';
import { parseTopology, PolicyError } from '@baton/policies';
import { type PreparedReplay, prepareReplay } from '@baton/replay';
import {
  type GivenReplayFlags,
  readReplayFlags,
  type ReplayFlags,
} from '../../replay/replay-flags';
import { say } from '../../say';
import { askedPlacement, askedScaling } from './asked-policies';
import { type Conversation, StandardStreams } from './conversation';
import { Episode, seedOf } from './episode';

/** The kind of decisions that the program makes. */
export type AskedKind = 'placement' | 'decode-placement' | 'scaling';

/** Options whose decisions the program makes. */
const DECIDED: Readonly<Record<AskedKind, readonly string[]>> = {
  placement: ['placement'],
  'decode-placement': ['decodePlacement'],
  scaling: ['autoscaler', 'scalePolicy'],
};

/**
 * Autoscaler of the configuration until the workload is read; without one, the cluster does not
 * scale.
 */
const STAND_IN = 'keda';

/**
 * `baton policy ask`: replays a workload in virtual time, episode by episode. A program on stdin
 * and stdout makes each decision of one kind. docs/python.md has the messages.
 */
export async function askProgram(
  kind: AskedKind,
  given: GivenReplayFlags,
  conversation: Conversation = new StandardStreams(),
): Promise<void> {
  const flags = askedFlags(kind, given);
  let prepared = await prepareReplay(flags, process.env, () => undefined);
  for (const note of prepared.notes) say(note);
  conversation.send({ ready: readiness(kind, prepared) });
  let seed = seedOf(conversation.receive());
  while (seed !== undefined) {
    if (seed !== prepared.config.seed) {
      const config = { ...flags.config, seed: String(seed) };
      prepared = await prepareReplay({ ...flags, config }, process.env, () => undefined);
    }
    seed = playEpisode(kind, prepared, { slo: flags.slo ?? {}, conversation });
  }
}

function askedFlags(kind: AskedKind, given: GivenReplayFlags): ReplayFlags {
  const idle = DECIDED[kind].find((name) => given[name] !== undefined);
  if (idle !== undefined) {
    throw new UsageError(`The program decides the ${kind}. Remove ${flagName(idle)}.`);
  }
  return readReplayFlags(kind === 'scaling' ? { ...given, autoscaler: STAND_IN } : given);
}

/** @throws UsageError when the program cannot decide for this cluster */
function readiness(kind: AskedKind, { config, scaling }: PreparedReplay): object {
  const { seed } = config;
  if (kind === 'scaling') {
    const { fewest: min, most: max, intervalUs } = scaling!;
    return { decides: kind, seed, min, max, interval_s: usToSeconds(intervalUs) };
  }
  const { prefill, decode, aggregated } = parseTopology(config.topology);
  if (scaling !== undefined || config.changes !== undefined) {
    throw new UsageError(
      'A placement program needs a fixed topology. Remove --changes and --autoscaler.',
    );
  }
  if (prefill > 0 && aggregated > 0) {
    throw new UsageError(
      `A placement program needs a topology xPyD or xA; ${config.topology} is not.`,
    );
  }
  if (kind === 'placement') return { decides: kind, seed, engines: prefill + aggregated };
  if (decode === 0) {
    throw new UsageError(
      `A program for decode placement needs a topology xPyD; ${config.topology} is not.`,
    );
  }
  return { decides: kind, seed, engines: decode };
}

interface Play {
  readonly slo: NonNullable<ReplayFlags['slo']>;
  readonly conversation: Conversation;
}

/** Returns the seed of the next episode. Undefined: the program has closed its output. */
function playEpisode(
  kind: AskedKind,
  prepared: PreparedReplay,
  { slo, conversation }: Play,
): number | undefined {
  const episode = new Episode(conversation, slo);
  const scenario = askedScenario(kind, prepared, episode);
  try {
    const run = simulate(scenario, { onEnd: (row, log) => episode.onEnd(row, log) });
    const summary = summarise(run, {
      slo,
      wallSeconds: 0,
      seed: prepared.config.seed,
      ...(prepared.scaling ? { scaling: prepared.scaling } : { gpus: mostGpus(scenario) }),
    });
    conversation.send({ done: withoutWall(summary), ended: episode.takeEnded() });
  } catch (error) {
    if (episode.interruption !== undefined) return episode.interruption.nextSeed;
    throw error instanceof PolicyError ? new UsageError(error.message) : error;
  }
  return seedOf(conversation.receive());
}

/** The scenario with the program in place of a plug-in policy. */
function askedScenario(
  kind: AskedKind,
  { config, scenario }: PreparedReplay,
  episode: Episode,
): ClusterScenario {
  const ask = (question: Readonly<Record<string, unknown>>): unknown => episode.ask(question);
  if (kind !== 'scaling') {
    const stage = kind === 'placement' ? 'prefill' : 'decode';
    return { ...scenario, placement: { ...scenario.placement, [stage]: askedPlacement(ask) } };
  }
  const own = askedScaling(ask);
  const { create } = configuredAutoscaler(config, parseTopology(config.topology), { own })!;
  return { ...scenario, scaling: { ...scenario.scaling!, create } };
}

/** The part of a summary that depends only on scenario, seed and actions. */
function withoutWall(summary: Summary): object {
  return { ...summary, wall_seconds: undefined, requests_per_wall_second: undefined };
}
