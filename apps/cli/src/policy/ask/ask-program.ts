import { summarise, type Summary } from '@baton/analysis';
import { type ClusterScenario, simulate } from '@baton/cluster';
import { UsageError } from '@baton/config';
import { usToSeconds } from '@baton/kernel';
import { parseTopology, PolicyError } from '@baton/placement';
import { type PreparedReplay, prepareReplay } from '@baton/replay';
import { configuredAutoscaler } from '@baton/scaling';
import { mostGpus } from '@baton/scenario';
import {
  type GivenReplayFlags,
  readReplayFlags,
  type ReplayFlags,
} from '../../replay/replay-flags';
import { say } from '../../say';
import { askedPlacement, askedScaling } from './asked-policies';
import { type Conversation, StandardStreams } from './conversation';
import { Episode, seedOf } from './episode';

/** What the program decides. */
export type AskedKind = 'placement' | 'decode-placement' | 'scaling';

/** Options whose decisions are the program's. */
const DECIDED: Readonly<Record<AskedKind, readonly string[]>> = {
  placement: ['placement'],
  'decode-placement': ['decodePlacement'],
  scaling: ['autoscaler', 'scalePolicy'],
};

/** Stands in for the program until the workload is read: without an autoscaler nothing scales. */
const STAND_IN = 'keda';

/**
 * `baton policy ask`: replays a workload in virtual time again and again; a program on stdin and
 * stdout makes each decision of one kind. docs/python.md has the messages.
 */
export async function askProgram(
  kind: AskedKind,
  given: GivenReplayFlags,
  conversation: Conversation = new StandardStreams(),
): Promise<void> {
  const flags = askedFlags(kind, given);
  let prepared = await prepareReplay(flags, process.env, () => undefined);
  for (const note of prepared.notes) say(note);
  conversation.tell({ ready: readiness(kind, prepared) });
  let seed = seedOf(conversation.hear());
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
    throw new UsageError(`The program decides the ${kind}: leave ${idle} out.`);
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
      'A program that places needs engines that stay: leave changes and autoscaler out.',
    );
  }
  if (prefill > 0 && aggregated > 0) {
    throw new UsageError(
      `A program that places needs engines of one way: xPyD or xA, not ${config.topology}.`,
    );
  }
  if (kind === 'placement') return { decides: kind, seed, engines: prefill + aggregated };
  if (decode === 0) {
    throw new UsageError(
      `A program that places on decode engines needs some: xPyD, not ${config.topology}.`,
    );
  }
  return { decides: kind, seed, engines: decode };
}

interface Play {
  readonly slo: NonNullable<ReplayFlags['slo']>;
  readonly conversation: Conversation;
}

/** Returns the seed of the next episode. Undefined: the program has closed its side. */
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
      ...{ slo, wallSeconds: 0, seed: prepared.config.seed },
      ...(prepared.scaling ? { scaling: prepared.scaling } : { gpus: mostGpus(scenario) }),
    });
    conversation.tell({ done: withoutWall(summary), ended: episode.takeEnded() });
  } catch (error) {
    if (episode.interruption !== undefined) return episode.interruption.nextSeed;
    throw error instanceof PolicyError ? new UsageError(error.message) : error;
  }
  return seedOf(conversation.hear());
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
