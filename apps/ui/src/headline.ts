import type { PictureRates } from '@baton/contract';
import { type ClusterModel, topologyNow } from './cluster-model';
import { make, setText } from './element';
import { type ExplainedPart, explainer } from './explain';
import { formatCount, readableMs } from './format';
import type { StreamState } from './live-stream';

const STATES: Readonly<Record<StreamState, string>> = {
  connecting: 'connecting',
  live: 'live',
  silent: 'the cluster does not answer',
  recorded: 'a recorded run',
};

const TILES: readonly { readonly name: string; readonly explained: ExplainedPart }[] = [
  { name: 'In flight', explained: 'inFlight' },
  { name: 'TTFT', explained: 'ttft' },
  { name: 'ITL', explained: 'itl' },
  { name: 'Output', explained: 'output' },
  { name: 'Requests', explained: 'requests' },
];

/** The header: the description of the cluster and its current figures. */
export class Headline {
  readonly element: HTMLElement;
  private readonly about = make('p', { class: 'about' });
  private readonly state = make('span', { class: 'state', role: 'status' });
  private readonly kind = make('small', {}, ['live']);
  private readonly tiles: readonly { readonly value: HTMLElement; readonly detail: HTMLElement }[];

  constructor() {
    this.tiles = TILES.map(() => ({ value: make('dd'), detail: make('dd', { class: 'detail' }) }));
    const list = TILES.map(({ name, explained }, i) => {
      const { value, detail } = this.tiles[i]!;
      return make('div', {}, [make('dt', {}, [name, explainer(explained, name)]), value, detail]);
    });
    this.element = make('header', { class: 'headline' }, [
      make('div', { class: 'who' }, [
        make('h1', {}, ['Baton ', this.kind]),
        this.about,
        this.state,
      ]),
      make('dl', { class: 'tiles' }, list),
    ]);
    this.enter('connecting');
  }

  enter(state: StreamState): void {
    setText(this.state, STATES[state]);
    setText(this.kind, state === 'recorded' ? 'replay' : 'live');
    this.state.dataset['state'] = state;
  }

  show({ hello, engines, rates, inFlight, counts }: ClusterModel): void {
    if (hello) {
      const pace = hello.speedup === 1 ? '' : ` · speedup ${formatCount(hello.speedup)}`;
      const now = topologyNow(engines);
      const first = now === hello.topology ? '' : ` (started as ${hello.topology})`;
      setText(this.about, `${hello.model} · ${now}${first}${pace} · version ${hello.version}`);
    }
    const [queue = 0] = counts;
    this.fill(0, formatCount(inFlight), `${formatCount(queue)} in the queue`);
    this.fillLatency(1, 'ttft', rates);
    this.fillLatency(2, 'itl', rates);
    this.fill(3, formatCount(rates && Math.round(rates.tokensPerSecond)), 'tokens/s');
    const finished = formatCount(rates?.finishedPerSecond);
    this.fill(4, `${formatCount(rates?.requestsPerSecond)} /s`, `${finished} finished /s`);
  }

  /** A latency that late tokens change is no figure of the simulated cluster. */
  private fillLatency(tile: number, name: 'ttft' | 'itl', rates: PictureRates | undefined): void {
    const quantiles = rates?.[`${name}Ms`];
    const isVoid = (at: 'p50' | 'p99'): boolean =>
      rates?.lateFigures?.includes(`${name} ${at}`) === true;
    const mark = isVoid('p50') || isVoid('p99') ? 'VOID · ' : '';
    this.fill(tile, readableMs(quantiles?.p50), `${mark}p99 ${readableMs(quantiles?.p99)}`);
    this.tiles[tile]!.value.classList.toggle('void', isVoid('p50'));
  }

  private fill(tile: number, value: string, detail: string): void {
    const { value: large, detail: small } = this.tiles[tile]!;
    setText(large, value);
    setText(small, detail);
  }
}
