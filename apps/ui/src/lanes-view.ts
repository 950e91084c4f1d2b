import type { PictureEngine } from '@baton/contract';
import { type ClusterModel, startedWith } from './cluster-model';
import { make, setText } from './element';
import { EngineLane } from './engine-lane';
import { explainer } from './explain';
import type { FlowBoxes } from './flow-scene';
import { formatCount, formatOf } from './format';
import type { Box } from './grid';

type Role = PictureEngine['role'];

const POOLS: readonly { readonly role: Role; readonly title: string }[] = [
  { role: 'prefill', title: 'Prefill' },
  { role: 'decode', title: 'Decode' },
  { role: 'aggregated', title: 'Aggregated' },
];
/**
 * Most lanes of a pool with several lines each. Above it each lane is one line, and far above it a
 * tile of a grid.
 */
const ROOMY_LANES = 6;
const LINE_LANES = 16;
/** Width of a decode lane, relative to prefill: it shows more requests. */
const USUAL_WIDTH = '1.4fr';
/** Most times that one of two pools is wider than the other. */
const MOST_TIMES = 2;

interface Pool {
  readonly element: HTMLElement;
  readonly summary: HTMLElement;
  readonly list: HTMLOListElement;
  /** Shown while the pool has no engine. */
  readonly empty: HTMLElement;
}

/** The engines in their pools, with areas between them for queued and transferred requests. */
export class LanesView {
  readonly element: HTMLElement;
  private readonly pools: ReadonlyMap<Role, Pool>;
  private readonly lanes = new Map<string, EngineLane>();
  private readonly queue = station('Queue', 'queue');
  private readonly transfer = station('Transfer', 'transfer');

  constructor() {
    this.pools = new Map(POOLS.map(({ role, title }) => [role, newPool(role, title)]));
    const [prefill, decode, aggregated] = POOLS.map(({ role }) => this.pools.get(role)!.element);
    const second = make('div', { class: 'pools' }, [decode!, aggregated!]);
    const parts = [this.queue.element, prefill!, this.transfer.element, second];
    this.element = make('div', { class: 'flow' }, parts);
  }

  show({ engines, counts, hello }: ClusterModel): void {
    for (const engine of engines) {
      const lane = this.lanes.get(engine.id) ?? this.add(engine);
      lane.show(engine);
    }
    const present = new Set(engines.map(({ id }) => id));
    for (const [id, lane] of this.lanes) {
      if (present.has(id)) continue;
      lane.element.remove();
      this.lanes.delete(id);
    }
    for (const { role } of POOLS) this.order(role, engines);
    for (const { role } of POOLS) {
      this.summarise(role, engines, startedWith(hello?.topology ?? '', role) > 0);
    }
    this.element.style.setProperty('--second', secondWidth(engines));
    this.shape = engines.map(({ id }) => id).join();
    setText(this.queue.count, formatCount(counts[0]));
    setText(this.transfer.count, formatCount(counts[2]));
  }

  /** The current boxes of requests, relative to `origin`. */
  boxes(origin: DOMRect): FlowBoxes {
    const boxOf = (element: Element): Box => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return { x: left - origin.left, y: top - origin.top, width, height };
    };
    const isShown = this.transfer.element.offsetParent !== null;
    return {
      queue: within(boxOf(this.queue.slots)),
      transfer: isShown ? within(boxOf(this.transfer.slots)) : undefined,
      lanes: new Map([...this.lanes].map(([id, lane]) => [id, boxOf(lane.slots)])),
      exitX: origin.width + 12,
    };
  }

  /** Changes when lanes are added, removed or moved. */
  shape = '';

  /** Orders the lanes by the engines' numbers, also when one engine replaces another. */
  private order(role: Role, engines: readonly PictureEngine[]): void {
    const { list } = this.pools.get(role)!;
    const mine = engines.filter((engine) => engine.role === role);
    for (const [place, { id }] of mine.entries()) {
      const { element } = this.lanes.get(id)!;
      if (list.children[place] !== element)
        list.insertBefore(element, list.children[place] ?? null);
    }
  }

  private add({ id, role }: PictureEngine): EngineLane {
    const lane = new EngineLane();
    this.lanes.set(id, lane);
    this.pools.get(role)!.list.append(lane.element);
    return lane;
  }

  /** @param isExpected  the pool stays on the page when it has lost its last engine */
  private summarise(role: Role, engines: readonly PictureEngine[], isExpected: boolean): void {
    const mine = engines.filter((engine) => engine.role === role);
    const { element, summary, list, empty } = this.pools.get(role)!;
    const sum = (value: (engine: PictureEngine) => number): number =>
      mine.reduce((total, engine) => total + value(engine), 0);
    const running = formatCount(sum((engine) => engine.running));
    const waiting = formatCount(sum((engine) => engine.waiting));
    element.hidden = mine.length === 0 && !isExpected;
    empty.hidden = mine.length > 0;
    setText(summary, `${formatOf(mine.length, 'engine')}, ${running} running, ${waiting} waiting`);
    list.className = `lanes ${density(mine.length)}`;
    this.element.classList.toggle(`has-${role}`, !element.hidden);
  }
}

/** A box without its margin. */
function within({ x, y, width, height }: Box): Box {
  const margin = 8;
  return { x: x + margin, y: y + margin, width: width - 2 * margin, height: height - 2 * margin };
}

function density(lanes: number): 'roomy' | 'line' | 'tiles' {
  if (lanes <= ROOMY_LANES) return 'roomy';
  return lanes <= LINE_LANES ? 'line' : 'tiles';
}

/**
 * Width of the second pools, in fr; prefill has 1fr. The width of a grid follows its number of
 * engines.
 */
function secondWidth(engines: readonly PictureEngine[]): string {
  const first = engines.filter(({ role }) => role === 'prefill').length;
  const second = engines.length - first;
  if (Math.max(first, second) <= LINE_LANES) return USUAL_WIDTH;
  return `${Math.min(MOST_TIMES, Math.max(1 / MOST_TIMES, second / first))}fr`;
}

function newPool(role: Role, title: string): Pool {
  const summary = make('small');
  const list = make('ol', { class: 'lanes' });
  const heading = make('h3', {}, [
    make('span', { class: `key ${role}` }),
    make('span', { class: 'title' }, [`${title} `, summary]),
    explainer(role, title),
  ]);
  const label = `${title} engines`;
  const empty = make('p', { class: 'no-engines' }, [
    'No engine of this role is running. Requests that need one wait.',
  ]);
  return {
    element: make('section', { class: `pool ${role}`, 'aria-label': label }, [
      heading,
      list,
      empty,
    ]),
    summary,
    list,
    empty,
  };
}

function station(title: string, name: 'queue' | 'transfer') {
  const count = make('b');
  const slots = make('div', { class: 'slots' });
  const heading = make('h3', {}, [
    make('span', { class: `key ${name}` }),
    make('span', { class: 'title' }, [title, ' ', count]),
    explainer(name, title),
  ]);
  const element = make('section', { class: `station ${name}`, 'aria-label': title }, [
    heading,
    slots,
  ]);
  return { element, slots, count };
}
