import type { ServerResponse } from 'node:http';
import { type BatonConfig } from '@baton/config';
import { servedNamesOf } from '@baton/engine-setup';
import { BatonError, type ClusterHello } from '@baton/contract';
import { VERSION } from '@baton/kernel';
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { unsentBytes } from '../../http/streaming/event-stream';
import { API_IDENTITY, type ApiIdentity, CONFIG } from '../../tokens';
import { Observers } from '../port/observers';
import { ClusterPictures } from './cluster-pictures';
import { RateMeter } from './rate-meter';

const PICTURE_EVERY_MS = 250;
export const MOST_VIEWERS = 16;
/** A viewer with more unsent bytes than this misses pictures until it has caught up. */
const MOST_UNSENT_BYTES = 512 * 1024;
/** Pictures in a row that a viewer may miss before its connection is closed. */
const MOST_MISSED = 40;

interface Viewer {
  readonly response: ServerResponse;
  missed: number;
}

/**
 * The open live pages. A picture is taken and written as text once for all of them; without an open
 * page none is taken. A page that does not read misses pictures; its connection is closed after ten
 * seconds.
 */
@Injectable()
export class Viewers implements BeforeApplicationShutdown {
  private readonly viewers = new Set<Viewer>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(API_IDENTITY) private readonly identity: ApiIdentity,
    private readonly pictures: ClusterPictures,
    private readonly meter: RateMeter,
    private readonly observers: Observers,
  ) {}

  get size(): number {
    return this.viewers.size;
  }

  refuseWhenFull(): void {
    if (this.viewers.size >= MOST_VIEWERS) {
      throw new BatonError(
        'too_many_viewers',
        `Too many live pages are open (limit ${MOST_VIEWERS}). Close one and reload.`,
      );
    }
  }

  /** Sends pictures until the connection closes. */
  show(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
    response.writeHead(200, {
      ...headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Without this header, proxies could buffer the answer and deliver many pictures together.
      'x-accel-buffering': 'no',
    });
    response.write(event('hello', this.hello()));
    const viewer = { response, missed: 0 };
    this.viewers.add(viewer);
    response.once('close', () => this.leave(viewer));
    if (this.timer === undefined) this.startPictures();
  }

  /** Runs before the server closes, which waits for its connections. */
  beforeApplicationShutdown(): void {
    for (const viewer of this.viewers) viewer.response.destroy();
    this.stopPictures();
  }

  private startPictures(): void {
    this.meter.switchOn(performance.now());
    this.observers.refresh();
    this.timer = setInterval(() => this.tick(), PICTURE_EVERY_MS);
  }

  private stopPictures(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.meter.switchOff();
    this.observers.refresh();
    this.pictures.forget();
  }

  private leave(viewer: Viewer): void {
    this.viewers.delete(viewer);
    if (this.viewers.size === 0) this.stopPictures();
  }

  private tick(): void {
    const text = event('picture', this.pictures.take(performance.now()));
    for (const viewer of this.viewers) {
      if (unsentBytes(viewer.response) <= MOST_UNSENT_BYTES) {
        viewer.missed = 0;
        viewer.response.write(text);
      } else if ((viewer.missed += 1) > MOST_MISSED) viewer.response.destroy();
    }
  }

  private hello(): ClusterHello {
    const { topology, speedup, enableAdmin } = this.config;
    return {
      ...{ api: this.identity.apiId, version: VERSION, topology, speedup },
      model: servedNamesOf(this.config)[0],
      intervalMs: PICTURE_EVERY_MS,
      hasSettings: enableAdmin,
      names: this.pictures.names(),
    };
  }
}

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
