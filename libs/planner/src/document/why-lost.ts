import type { EngineRoleName } from '@baton/analysis';
import { formatMs, formatNumber, formatShare } from '@baton/report';
import { type Cause, CAUSES, type RoleProfile, type RunProfile } from '../candidates/run-profile';

export interface Defeat {
  readonly name: string;
  readonly isAggregated: boolean;
  readonly winner: string;
  /** The winner's highest rate, requests per second. */
  readonly rate: number;
  readonly own: RunProfile;
  readonly best: RunProfile;
}

/** What the split misses, what the main cause is, and what would mend it. */
export function whyLost(defeat: Defeat): string[] {
  const { name, winner, rate, own, best } = defeat;
  const share = ({ missed, requests }: RunProfile): string => formatShare(missed / requests);
  const by = Object.entries(own.missedBy).map(([objective, count]) => {
    return `${objective.toUpperCase()} in ${formatShare(count / own.requests)}`;
  });
  const misses =
    `at ${formatNumber(rate)} requests/s it misses the SLO in ${share(own)} of the requests ` +
    `(${by.join(', ')}), ${winner} in ${share(best)}.`;
  const main = CAUSES.reduce((most, cause) =>
    own.causes[cause] > own.causes[most] ? cause : most,
  );
  if (own.causes[main] === 0)
    return [misses, `${name} loses no time that ${winner} does not lose.`];
  const { what, mend } = EXPLAINED[main](defeat);
  return [
    misses,
    `The cause is ${what} (${formatShare(own.causes[main])} of the lost time).`,
    mend,
  ];
}

interface Reason {
  readonly what: string;
  /** A sentence. */
  readonly mend: string;
}

const EXPLAINED: Readonly<Record<Cause, (defeat: Defeat) => Reason>> = {
  front_end: () => ({
    what: 'the front end: requests wait for the servers in front of the engines',
    mend: 'More servers per engine (--api-server-count) would mend it.',
  }),
  queue: ({ own, isAggregated }) => {
    const { role, engines, inSteps } = stageOf(own, 'prefill');
    return {
      what:
        `the queue: requests wait ${phaseText(own, 'queue')} on average for their first step, ` +
        `and the ${enginesText(engines, role)} ${formatShare(inSteps)} of the time in steps`,
      mend: isAggregated
        ? 'Fewer prompt tokens per second, more engines or a larger max_num_batched_tokens would mend it.'
        : 'More prefill engines, or larger ones, would mend it.',
    };
  },
  prefill: ({ own }) => ({
    what:
      `the prompts themselves: even on an idle engine they take ` +
      `${phaseText(own, 'prefill', true)} on average`,
    mend: 'A larger tensor-parallel size of the engines that prefill would mend it.',
  }),
  budget: (defeat) => budgetReason(defeat),
  kv: ({ own }) => {
    const { kvFull, preemptions, engines, role } = stageOf(own, 'decode');
    return {
      what:
        `the KV cache: the ${enginesText(engines, role)} out of blocks ${formatShare(kvFull)} of ` +
        `the time, with ${formatNumber(preemptions)} preemptions`,
      mend: 'More or larger engines that decode, or --kv-cache-dtype fp8, would mend it.',
    };
  },
  transfer: ({ own }) => ({
    what:
      `the transfer: the KV of a request takes ${phaseText(own, 'transfer')} on average to cross ` +
      'the link',
    mend: 'A faster link (--link), or larger engines with more links, would mend it.',
  }),
  decode: ({ own }) => {
    const { role, engines, running } = stageOf(own, 'decode');
    return {
      what:
        `slow decode steps: each of the ${engines} ${role} engines decodes ` +
        `${formatNumber(Math.round(running))} sequences at a time`,
      mend: 'More engines that decode, or a larger tensor-parallel size of them, would mend it.',
    };
  },
};

function budgetReason({ own }: Defeat): Reason {
  const full = own.roles.find(({ batchFull }) => batchFull >= 0.5);
  if (full !== undefined) {
    return {
      what:
        `full batches: the ${enginesText(full.engines, full.role)} at max_num_seqs ` +
        `(${formatNumber(full.maxNumSeqs)}) ${formatShare(full.batchFull)} of the time`,
      mend: 'A larger max_num_seqs, or more engines of that role, would mend it.',
    };
  }
  const stage = stageOf(own, 'prefill');
  const budget = formatNumber(stage.maxNumBatchedTokens);
  const isLate = (own.missedBy.ttft ?? 0) > (own.missedBy.tpot ?? own.missedBy.itl ?? 0);
  if (isLate) {
    return {
      what:
        `steps full of prompt tokens: a prompt takes ${phaseText(own, 'prefill')} on average, ` +
        `${phaseText(own, 'prefill', true)} alone, with at most ${budget} tokens in a step`,
      mend: 'More engines that prefill, or another max_num_batched_tokens, would mend it.',
    };
  }
  return {
    what:
      `steps full of prompt tokens: with up to ${budget} tokens in a step, decodes wait for ` +
      `prompts, which take ${formatShare(stage.inPromptSteps / stage.inSteps)} of the time in steps`,
    mend:
      'A smaller max_num_batched_tokens or long_prefill_token_threshold, or engines that only ' +
      'decode, would mend it.',
  };
}

function stageOf({ roles }: RunProfile, stage: 'prefill' | 'decode'): RoleProfile {
  return roles.find(({ role }) => role === stage || role === 'aggregated')!;
}

function enginesText(engines: number, role: EngineRoleName): string {
  return engines === 1 ? `${role} engine is` : `${engines} ${role} engines are`;
}

function phaseText(profile: RunProfile, phase: string, isIdle = false): string {
  const phases = isIdle ? profile.idlePhases : profile.phases;
  return formatMs(phases.find((one) => one.phase === phase)?.meanMs ?? null);
}
