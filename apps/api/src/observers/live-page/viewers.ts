import type { ServerResponse } from 'node:http';
import { servedNamesOf } from '@baton/config';
import { BatonError, type ClusterHello } from '@baton/contract';
import { VERSION } from '@baton/kernel';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { unsentBytes } from '../../http/streaming/event-stream';
import { ApiIdentity, Config } from '../../tokens';
import { ApiProcesses } from '../../processes/api-processes';
import { Observers } from '../port/observers';
import { ClusterPictures, type PicturePart } from './cluster-pictures';
import { RateMeter } from './rate-meter';

const PICTURE_EVERY_MS = 250;
export const MOST_VIEWERS = 16;
/** A viewer with more unsent bytes than this misses pictures until it has caught up. */
const MOST_UNSENT_BYTES = 512 * 1024;
/** Pictures in a row that a viewer may miss before its connection is closed. */
const MOST_MISSED = 40;
/** An API process with an open live page requests a part of each picture from the others. */
const SIBLING_LOOKS_MS = 2_000;

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
  /** Runs while another API process has an open live page. */
  private otherViewers: NodeJS.Timeout | undefined;
  private isTaking = false;

  constructor(
    private readonly config: Config,
    private readonly identity: ApiIdentity,
    private readonly pictures: ClusterPictures,
    private readonly meter: RateMeter,
    private readonly observers: Observers,
    private readonly apiProcesses: ApiProcesses,
  ) {
    apiProcesses.answer('pictures', () => {
      this.measureForOthers();
      return this.pictures.part(performance.now());
    });
  }

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
    this.measure();
    this.timer = setInterval(() => this.tick(), PICTURE_EVERY_MS);
  }

  private stopPictures(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.pictures.forget();
    this.rest();
  }

  private measureForOthers(): void {
    clearTimeout(this.otherViewers);
    this.otherViewers = setTimeout(() => {
      this.otherViewers = undefined;
      this.rest();
    }, SIBLING_LOOKS_MS).unref();
    this.measure();
  }

  private measure(): void {
    if (this.meter.isOn) return;
    this.meter.switchOn(performance.now());
    this.observers.refresh();
  }

  private rest(): void {
    if (this.timer !== undefined || this.otherViewers !== undefined) return;
    this.meter.switchOff();
    this.observers.refresh();
  }

  private leave(viewer: Viewer): void {
    this.viewers.delete(viewer);
    if (this.viewers.size === 0) this.stopPictures();
  }

  private tick(): void {
    if (!this.apiProcesses.areThere) this.send([]);
    else if (!this.isTaking) void this.takeTogether();
  }

  /** Skips pictures while other API processes are late. */
  private async takeTogether(): Promise<void> {
    this.isTaking = true;
    const others = await this.apiProcesses.query('pictures', null);
    this.isTaking = false;
    if (this.timer !== undefined) this.send(others as readonly PicturePart[]);
  }

  private send(others: readonly PicturePart[]): void {
    const text = event('picture', this.pictures.take(performance.now(), others));
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
      api: this.identity.apiId,
      version: VERSION,
      topology,
      speedup,
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
