import type { ClusterHello, ClusterPicture } from '@baton/contract';

/** Time without a picture after which the page reports a lost stream, in ms. */
const SILENT_AFTER_MS = 3_000;
const LOOK_EVERY_MS = 500;

export type StreamState = 'connecting' | 'live' | 'silent' | 'recorded';

export interface PictureListener {
  readonly onHello: (hello: ClusterHello) => void;
  readonly onPicture: (picture: ClusterPicture) => void;
  readonly onState: (state: StreamState) => void;
}

/**
 * The stream of pictures. The browser reconnects automatically. The stream is closed while the page
 * is hidden, so that a hidden page has no cost.
 */
export class LiveStream {
  private source: EventSource | undefined;
  private lastMessageMs = 0;
  private state: StreamState = 'connecting';

  constructor(private readonly listener: PictureListener) {}

  start(): void {
    document.addEventListener('visibilitychange', () => this.follow());
    window.setInterval(() => this.look(), LOOK_EVERY_MS);
    this.follow();
  }

  private follow(): void {
    if (document.hidden) {
      this.source?.close();
      this.source = undefined;
    } else if (this.source === undefined) this.open();
  }

  private open(): void {
    const source = new EventSource('stream');
    this.source = source;
    this.lastMessageMs = performance.now();
    this.enter('connecting');
    source.addEventListener('hello', (event) => {
      this.listener.onHello(JSON.parse(event.data as string) as ClusterHello);
    });
    source.addEventListener('picture', (event) => {
      this.lastMessageMs = performance.now();
      this.enter('live');
      this.listener.onPicture(JSON.parse(event.data as string) as ClusterPicture);
    });
    source.addEventListener('error', () => this.enter('silent'));
  }

  private look(): void {
    if (this.source === undefined) return;
    if (performance.now() - this.lastMessageMs > SILENT_AFTER_MS) this.enter('silent');
    // The browser does not reconnect after a refusal, so this code does.
    if (this.source.readyState === EventSource.CLOSED) {
      this.source = undefined;
      window.setTimeout(() => this.follow(), SILENT_AFTER_MS);
    }
  }

  private enter(state: StreamState): void {
    if (state === this.state) return;
    this.state = state;
    this.listener.onState(state);
  }
}
