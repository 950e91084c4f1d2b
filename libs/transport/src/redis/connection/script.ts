import { ALLOW_OOM, type MarkingClient } from './client';

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

/** What a script answers: integers, strings, nil, or a list of these. */
export type ScriptReply = string | number | null | readonly ScriptReply[];

type Command = (...args: readonly ScriptValue[]) => Promise<ScriptReply>;

/**
 * Runs scripts by their digest (ioredis sends the text once per connection). Each is atomic: Redis
 * runs nothing else meanwhile.
 */
export class ScriptRunner {
  private readonly commands = new Map<string, Command>();

  constructor(private readonly client: MarkingClient) {}

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
    const name = [order.name, ...parts.map(({ script }) => script.name)].join('+');
    const command = this.commands.get(name) ?? this.define(name, fold(order, calls));
    const keys = parts.flatMap((part) => part.keys);
    return command(keys.length, ...keys, ...parts.flatMap(({ args }) => args));
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

/** The text depends on the scripts and on the number of their keys and arguments, not on values. */
function fold(order: Script, calls: ScriptCalls): Script {
  let [key, arg] = [0, 0];
  const functions = Object.entries(calls).map(([name, { script, keys, args }]) => {
    const ownKeys = `{unpack(KEYS, ${key + 1}, ${(key += keys.length)})}`;
    const ownArgs = `{unpack(ARGV, ${arg + 1}, ${(arg += args.length)})}`;
    return `
local ${name}Keys, ${name}Args = ${ownKeys}, ${ownArgs}
local function ${name}()
local KEYS, ARGV = ${name}Keys, ${name}Args
${script.body}
end
`;
  });
  return { ...order, body: functions.join('') + order.body };
}
