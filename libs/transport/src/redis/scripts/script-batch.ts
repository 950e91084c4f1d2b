import type { ScriptCall, ScriptReply, ScriptValue } from './script';

/** Items per script, so that no script blocks the server for long. */
const MOST_ITEMS = 32;

interface Item {
  readonly keys: readonly string[];
  readonly args: readonly ScriptValue[];
  readonly resolve: (reply: ScriptReply) => void;
  readonly reject: (error: unknown) => void;
}

type Send = (keys: readonly string[], args: readonly ScriptValue[]) => Promise<ScriptReply>;

/** Calls of one script, sent as one; values that are the same in all of them are sent once. */
export class ScriptBatch {
  private readonly items: Item[] = [];

  constructor(private readonly post: Send) {}

  get isFull(): boolean {
    return this.items.length === MOST_ITEMS;
  }

  add(parts: readonly ScriptCall[]): Promise<ScriptReply> {
    const keys = parts.flatMap((part) => part.keys);
    const args = parts.flatMap((part) => part.args);
    return new Promise((resolve, reject) => this.items.push({ keys, args, resolve, reject }));
  }

  send(): void {
    const { items } = this;
    const keysOf = ({ keys }: Item): readonly ScriptValue[] => keys;
    const argsOf = ({ args }: Item): readonly ScriptValue[] => args;
    const [keys, args] = [differing(items, keysOf), differing(items, argsOf)];
    const [first] = items as [Item];
    const others = items.slice(1);
    const positions = [keys.length, args.length, ...keys.map(oneBased), ...args.map(oneBased)];
    this.post(
      [...first.keys, ...others.flatMap((item) => keys.map((at) => item.keys[at]!))],
      [
        ...first.args,
        ...[items.length, ...positions],
        ...others.flatMap((item) => args.map((at) => item.args[at]!)),
      ],
    ).then(
      (replies) => this.settle(replies as readonly (ScriptReply | Error)[]),
      (error: unknown) => {
        for (const { reject } of items) reject(error);
      },
    );
  }

  private settle(replies: readonly (ScriptReply | Error)[]): void {
    this.items.forEach(({ resolve, reject }, i) => {
      const reply = replies[i] ?? null;
      if (reply instanceof Error) reject(reply);
      else resolve(reply);
    });
  }
}

/** Positions of the values that are not the same in all items. */
function differing(
  items: readonly Item[],
  valuesOf: (item: Item) => readonly ScriptValue[],
): number[] {
  const [first, ...others] = items.map(valuesOf);
  const positions: number[] = [];
  first?.forEach((value, at) => {
    if (others.some((values) => values[at] !== value)) positions.push(at);
  });
  return positions;
}

function oneBased(at: number): number {
  return at + 1;
}
