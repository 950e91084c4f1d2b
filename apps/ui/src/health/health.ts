import type { ClusterModel } from '../cluster-model';
import { formatOf, readableShare } from '../format';
import { type Departed, Departures } from './departures';
import { type Pile, type PileName, Piles } from './piles';
import { STAY_MS, Unserved } from './unserved';

export type Level = 'good' | 'busy' | 'bad';
const URGENCY: readonly Level[] = ['bad', 'busy', 'good'];

/** One finding about the state of the cluster. */
export interface HealthFinding {
  /** Equal findings have the same id over time. */
  readonly id: string;
  readonly level: Level;
  readonly title: string;
  readonly detail: string;
  /** The meaning of the finding, and the remedy. */
  readonly advice: string;
  /** ms of the clock of the pictures. */
  readonly sinceMs: number;
}

type Found = Omit<HealthFinding, 'sinceMs'> & { readonly sinceMs?: number };

/** The health of the cluster: its level, its bottleneck, and their start. */
export class Health {
  findings: readonly HealthFinding[] = [];
  private readonly departures = new Departures();
  private readonly piles = new Piles();
  private since = new Map<string, number>();
  private readonly unserved = new Unserved();
  private late: { readonly share: number; readonly atMs: number } | undefined;

  /** @param isRecorded in a recorded run engines leave only by order, so none is lost */
  constructor(private readonly isRecorded = false) {}

  update(model: ClusterModel): void {
    if (!this.isRecorded) this.watchDepartures(model);
    const unserved = this.unserved.update(model);
    const found: Found[] = [...this.losses(), ...unserved, ...this.shortages(model)];
    found.sort((a, b) => URGENCY.indexOf(a.level) - URGENCY.indexOf(b.level));
    if (found.length === 0) found.push(model.inFlight === 0 ? IDLE : healthy(model));
    this.findings = found.map((each) => ({
      ...each,
      sinceMs: each.sinceMs ?? this.since.get(each.id) ?? model.atMs,
    }));
    this.since = new Map(this.findings.map(({ id, sinceMs }) => [id, sinceMs]));
  }

  /** Records that the reader has ordered this engine to leave. */
  expectLeave(id: string): void {
    this.departures.expect(id);
  }

  /** Clears all findings: a new stream may belong to another cluster. */
  clear(): void {
    this.departures.clear();
    this.piles.clear();
    this.since.clear();
    this.unserved.clear();
    this.late = undefined;
  }

  private watchDepartures({ engines, atMs, hello }: ClusterModel): void {
    this.departures.update(engines, atMs, hello?.topology ?? '');
  }

  private losses(): Found[] {
    const { lost, replaced } = this.departures;
    return [
      ...departure(lost, {
        id: 'lost',
        level: 'bad',
        word: 'lost',
        detail: [
          'Its role has fewer engines than at the start.',
          'Their roles have fewer engines.',
        ],
      }),
      ...departure(replaced, {
        id: 'replaced',
        level: 'busy',
        word: 'gone',
        detail: ['Another engine replaces it.', 'Other engines replace them.'],
      }),
    ];
  }

  private delays({ engines, rates, atMs }: ClusterModel): Found[] {
    // A wrong tail is marked at its figure.
    const isWrong = rates?.lateFigures?.some((figure) => figure.endsWith('p50')) === true;
    const share = isWrong ? rates?.lateShare : undefined;
    if (share !== undefined) this.late = { share, atMs };
    else if (this.late !== undefined && atMs - this.late.atMs > STAY_MS) this.late = undefined;
    const starved = engines.filter(({ starvedMs }) => starvedMs !== undefined).length;
    const verb = starved === 1 ? 'gets' : 'get';
    const details = [
      ...(this.late ? [`${readableShare(this.late.share)} of the tokens came late.`] : []),
      ...(starved > 0 ? [`${formatOf(starved, 'engine')} ${verb} too little CPU time.`] : []),
      ...(rates?.apiStarvedMs === undefined ? [] : ['The API gets too little CPU time.']),
    ];
    return details.length === 0 ? [] : [{ ...TOO_SLOW, detail: details.join(' ') }];
  }

  private shortages(model: ClusterModel): Found[] {
    const pile = this.piles.observe(model);
    return [...this.delays(model), ...(pile === undefined ? [] : [shortage(pile, model)])];
  }
}

interface DepartureTexts extends Pick<Found, 'id' | 'level'> {
  readonly word: string;
  /** For one engine, and for several. */
  readonly detail: readonly [one: string, several: string];
}

function departure(
  gone: readonly Departed[],
  { id, level, detail, word }: DepartureTexts,
): Found[] {
  if (gone.length === 0) return [];
  const names = gone.map(({ name }) => name).join(', ');
  const subject = gone.length === 1 ? `Engine ${names} is` : `Engines ${names} are`;
  return [
    {
      id,
      level,
      title: `${subject} ${word}`,
      sinceMs: gone[0]!.atMs,
      detail: detail[gone.length === 1 ? 0 : 1],
      advice:
        'The engine sends no heartbeat: its process has ended or hangs, or it left while it was ' +
        'idle. Its requests run again on other engines. The log of the cluster has the cause.',
    },
  ];
}

const IDLE: Found = {
  id: 'idle',
  level: 'good',
  title: 'Idle',
  detail: 'No request is in flight.',
  advice: 'Every engine on this page sends heartbeats, and no request is under way.',
};

function healthy({ inFlight }: ClusterModel): Found {
  return {
    id: 'healthy',
    level: 'good',
    title: 'Healthy',
    detail: `${formatOf(inFlight, 'request')} in flight; none waits long.`,
    advice:
      'No engine is lost, no request is refused, and fewer than two requests per engine wait for ' +
      'prefill, for the link or for decode.',
  };
}

const TOO_SLOW: Omit<Found, 'detail'> = {
  id: 'starved',
  level: 'bad',
  title: 'This machine is too slow',
  advice:
    'Steps end or tokens arrive later than simulated, and several tokens of a request arrive at ' +
    'once. TTFT and ITL on this page are wrong. Simulate fewer engines, lower the speedup, or ' +
    'use a larger machine.',
};

interface Shortage {
  readonly title: string;
  readonly waitFor: string;
  readonly advice: string;
}

const SHORTAGES: Readonly<Record<PileName, Shortage>> = {
  prefill: {
    title: 'Bottleneck: prefill',
    waitFor: 'prefill',
    advice:
      'Prompts arrive faster than the prefill engines compute them, so the time to first token ' +
      'grows. Add prefill engines, or change a decode engine into one.',
  },
  link: {
    title: 'Bottleneck: link',
    waitFor: 'KV over the link',
    advice:
      'KV is handed over faster than the link carries it. A faster link, or fewer and larger ' +
      'engines, shorten the hand-over.',
  },
  decode: {
    title: 'Bottleneck: decode',
    waitFor: 'decode',
    advice:
      'Decode engines have no free place or no free KV, so finished prompts wait and hold KV on ' +
      'prefill. Add decode engines, or change a prefill engine into one.',
  },
  aggregated: {
    title: 'Bottleneck: engines',
    waitFor: 'an engine',
    advice: 'Requests arrive faster than the engines serve them. Add engines.',
  },
};

function shortage({ name, requests, engines }: Pile, model: ClusterModel): Found {
  const { title, waitFor, advice } = SHORTAGES[name];
  const role = name === 'link' ? 'decode' : name;
  const kv = model.engines.filter((engine) => engine.role === role).map(({ kvUsage }) => kvUsage);
  const mean = kv.reduce((sum, usage) => sum + usage, 0) / kv.length;
  const waiting = formatOf(Math.max(1, Math.round(requests)), 'request');
  return {
    id: name,
    level: 'busy',
    title,
    advice,
    detail:
      `About ${waiting} wait for ${waitFor} (${formatOf(engines, 'engine')}, ` +
      `KV ${readableShare(mean)} full).`,
  };
}
