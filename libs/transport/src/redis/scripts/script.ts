import { fold, repeated } from './fold';
import { ScriptBatch } from './script-batch';

/** The first line that lets a script write beyond `maxmemory` (Redis 7 and later). */
export const ALLOW_OOM = '#!lua flags=allow-oom\n';

/** The part of a client of Redis that a runner needs. */
export interface ScriptClient {
  /** True when the server accepts flags in the first line of a script. */
  readonly understandsFlags: boolean;
  /** Adds a method of this name, which calls the script. */
  defineCommand(name: string, definition: { readonly lua: string }): void;
}

/** A Lua script. `KEYS` are given per call; parts shared by several scripts precede `body`. */
export interface Script {
  readonly name: string;
  readonly body: string;
  /** True when it stores something large, so that a server without memory refuses it. */
  readonly isRefusedWhenFull?: true | undefined;
}

export type ScriptValue = string | number | Buffer;

/** A script with the keys and arguments of one call. */
export interface ScriptCall {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly ScriptValue[];
}

/** The parts of a folded script, by the names of their Lua functions. */
export type ScriptCalls = Readonly<Record<string, ScriptCall>>;

/** The result of a script: integers, strings, nil, or a list of these. */
export type ScriptReply = string | number | null | readonly ScriptReply[];

type Command = (...args: readonly ScriptValue[]) => Promise<ScriptReply>;

/**
 * Runs scripts by their digest (ioredis sends the text once per connection). Each is atomic: Redis
 * runs nothing else meanwhile.
 */
export class ScriptRunner {
  private readonly commands = new Map<string, Command>();
  /** The calls of this turn that are not sent yet, by the name of their script. */
  private readonly batches = new Map<string, ScriptBatch>();

  constructor(private readonly client: ScriptClient) {}

  run(script: Script, keys: readonly string[], args: readonly ScriptValue[]): Promise<ScriptReply> {
    const command = this.commands.get(script.name) ?? this.define(script.name, script);
    return command(keys.length, ...keys, ...args);
  }

  /**
   * Runs several scripts as one. `order` calls them as Lua functions, by their names in `calls`;
   * each has `KEYS` and `ARGV` of its own, which are `nameKeys` and `nameArgs` in `order`.
   */
  runFolded(order: Script, calls: ScriptCalls): Promise<ScriptReply> {
    const parts = Object.values(calls);
    const name = foldedName(order, parts);
    const command = this.commands.get(name) ?? this.define(name, fold(order, calls));
    const keys = parts.flatMap((part) => part.keys);
    return command(keys.length, ...keys, ...parts.flatMap(({ args }) => args));
  }

  /**
   * Like `runFolded`, but calls of one turn of the event loop that have the same parts run as one
   * script, in their order. Each has its own reply, and fails alone. `order` may not change the
   * keys and arguments of a part.
   */
  runTogether(order: Script, calls: ScriptCalls): Promise<ScriptReply> {
    const parts = Object.values(calls);
    const name = foldedName(order, parts);
    const open = this.batches.get(name) ?? this.openBatch(name, order, calls);
    const reply = open.add(parts);
    if (open.isFull) this.closeBatch(name, open);
    return reply;
  }

  private openBatch(name: string, order: Script, calls: ScriptCalls): ScriptBatch {
    const opened = new ScriptBatch((keys, args) => {
      const command =
        this.commands.get(name) ?? this.define(name, { ...order, body: repeated(order, calls) });
      return command(keys.length, ...keys, ...args);
    });
    this.batches.set(name, opened);
    setImmediate(() => this.closeBatch(name, opened));
    return opened;
  }

  private closeBatch(name: string, batch: ScriptBatch): void {
    if (this.batches.get(name) !== batch) return;
    this.batches.delete(name);
    batch.send();
  }

  private define(name: string, { body, isRefusedWhenFull }: Script): Command {
    const command = `baton:${name}`;
    const isMarked = this.client.understandsFlags && isRefusedWhenFull === undefined;
    const lua = isMarked ? ALLOW_OOM + body : body;
    this.client.defineCommand(command, { lua });
    const defined = (this.client as unknown as Record<string, Command>)[command];
    const bound: Command = (...args) => (defined as Command).call(this.client, ...args);
    this.commands.set(name, bound);
    return bound;
  }
}

function foldedName(order: Script, parts: readonly ScriptCall[]): string {
  return [order.name, ...parts.map(({ script }) => script.name)].join('+');
}
