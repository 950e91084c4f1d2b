import { BatonError } from '@baton/contract';
import { Injectable } from '@nestjs/common';
import { Observers } from '../observers/port/observers';
import { Legs } from '../routers/legs';
import type { UnreadCall } from './take/call';

/** Higher statuses are refusals for lack of room, after which a client may try again. */
const LAST_FINAL_STATUS = 404;

/** Notifies the parts that wait for a request when it ends before submission. */
@Injectable()
export class Refusals {
  constructor(
    private readonly observers: Observers,
    private readonly legs: Legs,
  ) {}

  /** An invalid request stays invalid, so KV blocks held for it are released. */
  refused(call: UnreadCall, error: unknown): void {
    if (error instanceof BatonError) this.observers.refused(call, error);
    const isFinal = error instanceof BatonError && error.entry.status <= LAST_FINAL_STATUS;
    this.legs.refused(call, isFinal);
  }

  /** The client's connection was cut by an injected fault. */
  cutOff(call: UnreadCall): void {
    this.legs.refused(call, false);
  }
}
