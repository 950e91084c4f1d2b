import { type CanActivate, Injectable } from '@nestjs/common';
import { AcceptingState } from './accepting-state';

/** Refuses requests that this process does not take, before their bodies are checked. */
@Injectable()
export class AcceptingGuard implements CanActivate {
  constructor(private readonly state: AcceptingState) {}

  /** @throws BatonError `shutting_down`, `broker_unavailable` */
  canActivate(): true {
    this.state.refuseWhenClosing();
    return true;
  }
}
