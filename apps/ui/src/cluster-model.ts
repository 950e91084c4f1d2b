import type {
  ClusterHello,
  ClusterPicture,
  PictureEngine,
  PicturePhase,
  PictureRates,
  PictureStepTimes,
  RequestName,
} from '@baton/contract';

/** In the order of a picture's phases. */
const PHASE_NAMES: readonly PicturePhase[] = ['queue', 'prefill', 'transfer', 'decode'];

/** Ended requests that are kept, the newest first. */
const MOST_ENDED = 64;
const NUMBERS_PER_REQUEST = 4;
const NUMBERS_PER_ENDED = 2;

export interface RequestState {
  readonly key: number;
  readonly name: string;
  readonly promptTokens: number;
  readonly maxTokens: number;
  phase: PicturePhase | 'ended';
  /** Id of its engine. Undefined: no engine has the request. */
  engine: string | undefined;
  tokens: number;
  /** The number of tokens is the final one. */
  isCounted: boolean;
  /** Wall ms of its first picture, and of the beginning of its phase. */
  readonly seenMs: number;
  phaseMs: number;
}

/**
 * The state of the page: the last picture, its requests as objects that persist as long as the
 * requests do, and the last ended ones.
 */
export class ClusterModel {
  hello: ClusterHello | undefined;
  engines: readonly PictureEngine[] = [];
  /** Requests by phase, including those without a dot. */
  counts: readonly number[] = [0, 0, 0, 0];
  /** Jobs that wait for engines of each role, in all API processes. */
  waiting: ClusterPicture['waiting'] | undefined;
  rates: PictureRates | undefined;
  stepTimes: readonly PictureStepTimes[] = [];
  atMs = 0;
  readonly requests = new Map<number, RequestState>();
  ended: RequestState[] = [];
  private names = new Map<number, RequestName>();
  /** Requests of the previous stream, by name, until a picture shows which ones still run. */
  private readonly earlier = new Map<string, RequestState>();

  /** Starts a new stream, which may belong to another cluster. */
  begin(hello: ClusterHello): void {
    this.hello = hello;
    for (const request of this.requests.values()) this.earlier.set(request.name, request);
    this.requests.clear();
    this.names = new Map(hello.names.map((name) => [name[0], name]));
  }

  /** Drops the requests, because the position in the recorded run has changed. */
  forget(): void {
    this.requests.clear();
    this.earlier.clear();
    this.ended = [];
  }

  update(picture: ClusterPicture): void {
    this.engines = picture.engines;
    this.counts = picture.phases;
    this.waiting = picture.waiting;
    this.rates = picture.rates;
    this.stepTimes = picture.stepTimes;
    this.atMs = picture.at;
    for (const name of picture.names) this.names.set(name[0], name);
    const present = this.updateMembers(picture);
    this.countEnded(picture.ended);
    for (const [key, request] of this.requests) {
      if (!present.has(key)) this.endRequest(request);
    }
    for (const request of this.earlier.values()) this.endRequest(request);
    this.earlier.clear();
  }

  get inFlight(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  private updateMembers({ requests, engines }: ClusterPicture): Set<number> {
    const present = new Set<number>();
    for (let i = 0; i < requests.length; i += NUMBERS_PER_REQUEST) {
      const [key = 0, phase = 0, place = -1, tokens = 0] = requests.slice(i, i + 4);
      const request = this.requests.get(key) ?? this.open(key);
      const name = PHASE_NAMES[phase] ?? 'queue';
      if (request.phase !== name) {
        request.phase = name;
        request.phaseMs = this.atMs;
      }
      request.engine = engines[place]?.id;
      request.tokens = tokens;
      present.add(key);
    }
    return present;
  }

  private countEnded(ended: readonly number[]): void {
    for (let i = 0; i < ended.length; i += NUMBERS_PER_ENDED) {
      const [key = 0, tokens = 0] = ended.slice(i, i + NUMBERS_PER_ENDED);
      const request = this.requests.get(key);
      if (request !== undefined) Object.assign(request, { tokens, isCounted: true });
    }
  }

  private open(key: number): RequestState {
    const [, name, promptTokens, maxTokens] = this.names.get(key) ?? [key, `#${key}`, 0, 0];
    const known = this.earlier.get(name);
    const request: RequestState =
      known?.key === key
        ? known
        : {
            key,
            name,
            promptTokens,
            maxTokens,
            phase: 'queue',
            engine: undefined,
            tokens: 0,
            isCounted: false,
            seenMs: this.atMs,
            phaseMs: this.atMs,
          };
    if (request === known) this.earlier.delete(name);
    this.requests.set(key, request);
    return request;
  }

  private endRequest(request: RequestState): void {
    // The key may belong to a request of a newer stream.
    if (this.requests.get(request.key) === request) this.requests.delete(request.key);
    if (this.names.get(request.key)?.[1] === request.name) this.names.delete(request.key);
    request.phase = 'ended';
    request.phaseMs = this.atMs;
    this.ended.unshift(request);
    if (this.ended.length > MOST_ENDED) this.ended.length = MOST_ENDED;
  }
}

const LETTERS = { prefill: 'P', decode: 'D', aggregated: 'A' } as const;

/** The names of engines by their ids. */
export function engineNames(engines: readonly PictureEngine[]): Map<string, string> {
  return new Map(engines.map(({ id, name }) => [id, name]));
}

/** `2P3D`: the engines at this moment. */
export function topologyNow(engines: readonly PictureEngine[]): string {
  const count = (role: PictureEngine['role']): number =>
    engines.filter((engine) => engine.role === role).length;
  const parts = (['prefill', 'decode', 'aggregated'] as const).map((role) =>
    count(role) > 0 ? `${count(role)}${LETTERS[role]}` : '',
  );
  return parts.join('');
}

/** Number of engines of a role in a topology such as `2P3D`; 0 where it has none. */
export function startedWith(topology: string, role: PictureEngine['role']): number {
  return Number(new RegExp(`(\\d+)${LETTERS[role]}`).exec(topology)?.[1] ?? 0);
}
