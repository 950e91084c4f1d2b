import { availableParallelism } from 'node:os';
import { type BatonConfig, servedNamesOf } from '@baton/config';
import { STAGES } from '@baton/contract';
import { baseUrl, type ProcessSpec } from '@baton/supervisor';

interface ReadyCluster {
  readonly config: BatonConfig;
  readonly specs: readonly ProcessSpec[];
  readonly seconds: number;
}

/** The text in the terminal when the cluster is ready. */
export function readyText({ config, specs, seconds }: ReadyCluster): string {
  const url = baseUrl(config);
  const [model] = servedNamesOf(config);
  const body = `{"model":"${model}","messages":[{"role":"user","content":"Hello"}],"stream":true}`;
  return [
    `Ready in ${seconds.toFixed(1)} s: ${url}/v1 · model ${model} · topology ${config.topology}`,
    `  curl -N ${url}/v1/chat/completions -H 'content-type: application/json' -d '${body}'`,
    `  ${url}/ui is the live page.`,
    ...sharingLines(config, specs),
    '  Ctrl-C stops the cluster after its running requests; a second Ctrl-C stops it at once.',
    '',
  ].join('\n');
}

/** Says which engines a lost process takes with it, unless the user has chosen that. */
function sharingLines(
  { enginesPerProcess }: BatonConfig,
  specs: readonly ProcessSpec[],
  cores = availableParallelism(),
): string[] {
  if (enginesPerProcess !== undefined) return [];
  const shared = STAGES.flatMap((stage) => {
    const workers = specs.filter(({ config }) => config.role === stage);
    const most = Math.max(0, ...workers.map(({ config }) => config.enginesPerProcess ?? 0));
    return most > 1 ? [`${most} ${stage} engines share a process`] : [];
  });
  if (shared.length === 0) return [];
  const why = `because this machine has ${cores} ${cores === 1 ? 'core' : 'cores'}`;
  return [`  ${shared.join(', ')}, ${why}; --engines-per-process 1 gives each its own.`];
}
