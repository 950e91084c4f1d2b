import { ALLOW_OOM, type MarkingClient } from './client';

/**
 * A Lua script. `KEYS` are given per call; parts shared by several scripts are put in front of
 * `body`.
 */
export interface Script {
  readonly name: string;
  readonly body: string;
  /** It stores something large: a server without memory refuses it. */
  readonly isRefusedWhenFull?: true;
}

/** What a script answers: integers, strings, nil, or a list of these. */
export type ScriptReply = string | number | null | readonly ScriptReply[];

type Command = (...args: readonly (string | number)[]) => Promise<ScriptReply>;

/**
 * Runs scripts by their digest (ioredis sends the text once per connection). Each is atomic: Redis
 * runs nothing else meanwhile.
 */
export class ScriptRunner {
  private readonly commands = new Map<string, Command>();

  constructor(private readonly client: MarkingClient) {}

  run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<ScriptReply> {
    const command = this.commands.get(script.name) ?? this.define(script);
    return command(keys.length, ...keys, ...args);
  }

  private define({ name, body, isRefusedWhenFull }: Script): Command {
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
