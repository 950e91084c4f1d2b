import { Room } from '@baton/placement';
import type { TargetSide } from '../handoff/target-side';
import type { EngineSlot } from '../host/engine-slot';
import type { Executor } from '../host/executor';
import type { HostOptions } from '../host/host-options';
import type { IncomingRuns } from './incoming-runs';

export interface IntakeRoomParts {
  readonly options: Pick<HostOptions, 'role' | 'facts'>;
  readonly slot: EngineSlot;
  readonly incoming: IncomingRuns;
  readonly target: TargetSide;
  /** Undefined: the engine does the work. */
  readonly executor: Executor | undefined;
}

/** How many further jobs the engine can take now. */
export class IntakeRoom {
  private readonly room: Room;

  constructor(private readonly parts: IntakeRoomParts) {
    this.room = new Room(parts.options.role, parts.options.facts);
  }

  left(): number {
    const { executor, slot, incoming, target } = this.parts;
    if (executor !== undefined) return executor.roomLeft(incoming);
    return this.room.left(slot.engine.snapshot(), incoming, target.waitingForRoom);
  }

  observe(promptTokens: number): void {
    this.room.observe(promptTokens);
  }
}
