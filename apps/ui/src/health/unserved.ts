import type { PictureRates } from '@baton/contract';
import type { ClusterModel } from '../cluster-model';
import { formatCount } from '../format';
import type { HealthFinding } from './health';
import { refusalTexts } from './refusals';

/** Time for which a finding stays after its last cause, in ms. Some causes come in bursts. */
export const STAY_MS = 5_000;

type Texts = Pick<HealthFinding, 'title' | 'detail' | 'advice'>;

interface Ending {
  readonly id: string;
  /** Requests per second that end in this way. */
  readonly rateOf: (rates: PictureRates) => number;
  readonly texts: (rates: PictureRates) => Texts;
}

const ENDINGS: readonly Ending[] = [
  { id: 'admission', rateOf: (rates) => rates.refusedPerSecond, texts: refusalTexts },
  {
    id: 'misfits',
    rateOf: ({ misfitsPerSecond = 0 }) => misfitsPerSecond,
    texts: ({ misfitsPerSecond }) => ({
      title: 'Requests fit no engine',
      detail:
        `${formatCount(misfitsPerSecond)} requests/s get status 400: prompt and output exceed ` +
        'the context of the model or the KV cache of an engine.',
      advice:
        'Raise max_model_len, give each engine more KV cache (more GPUs per engine or larger ' +
        'GPUs), or send shorter prompts.',
    }),
  },
  {
    id: 'failed',
    rateOf: ({ failedPerSecond = 0 }) => failedPerSecond,
    texts: ({ failedPerSecond }) => ({
      title: 'Requests find no engine',
      detail:
        `${formatCount(failedPerSecond)} requests/s fail, because no engine of a stage that they ` +
        'need is ready.',
      advice: 'Keep at least one ready engine of each role: look at the changes of the engines.',
    }),
  },
];

/** The requests that the cluster does not serve, as findings that stay for some seconds. */
export class Unserved {
  private readonly last = new Map<
    string,
    { readonly rates: PictureRates; readonly atMs: number }
  >();

  update({
    rates,
    atMs,
  }: ClusterModel): (Texts & { readonly id: string; readonly level: 'bad' })[] {
    for (const { id, rateOf } of ENDINGS) {
      if (rates !== undefined && rateOf(rates) > 0) this.last.set(id, { rates, atMs });
    }
    return ENDINGS.flatMap(({ id, texts }) => {
      const seen = this.last.get(id);
      if (seen === undefined || atMs - seen.atMs > STAY_MS) return [];
      return [{ id, level: 'bad' as const, ...texts(seen.rates) }];
    });
  }

  clear(): void {
    this.last.clear();
  }
}
