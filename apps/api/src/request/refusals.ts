import { BatonError } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { Observers } from '../observers/port/observers';
import { KvRelease } from '../routers/kv-release';
import { Legs } from '../routers/legs';
import type { Call } from './take/call';

/** Above it a client may try again: what was refused for a lack of room. */
const LAST_FINAL_STATUS = 404;

/** Tells those who wait for a request that it ends before it was submitted. */
@Injectable()
export class Refusals {
  constructor(
    private readonly observers: Observers,
    private readonly legs: Legs,
    private readonly release: KvRelease,
  ) {}

  /** What is wrong with a request stays wrong: KV blocks that are held for it are let go. */
  refused(call: Call, error: unknown): void {
    if (error instanceof BatonError) this.observers.refused(call, error);
    this.legs.refused(call);
    if (error instanceof BatonError && error.entry.status <= LAST_FINAL_STATUS) {
      this.release.refused(call.body);
    }
  }

  /** The client's connection was ended on purpose. */
  cutOff(call: Call): void {
    this.legs.refused(call);
  }
}
