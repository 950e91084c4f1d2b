import type { EnginePresence } from '@baton/contract';
import type { NameParts } from '@baton/kernel';
import type { ScriptReply, Script } from './scripts/script';
import { CLAIM_TTL_MS } from '../limits';
import type { PresenceBoard } from '../port/presence';
import type { RedisAdmission } from './admission';
import type { Keys } from './keys';
import type { RedisLink } from './connection/link';
import {
  ANNOUNCE_API,
  ANNOUNCE_ENGINE,
  CLAIM_NUMBER,
  LIST_ENGINES,
  REMOVE_ENGINE,
} from './presence-scripts';

/** The engines as read at a revision of the board. */
interface Board {
  readonly revision: string;
  readonly engines: readonly EnginePresence[];
}

/**
 * The living processes: keys that expire unless renewed. After a reconnection the API processes of
 * this transport are announced again before the link reports it, so that no worker considers their
 * requests abandoned.
 */
export class RedisPresence implements PresenceBoard {
  private readonly apis = new Map<string, number>();
  private board: Board = { revision: '', engines: [] };

  constructor(
    private readonly link: RedisLink,
    private readonly keys: Keys,
    private readonly admission: RedisAdmission,
  ) {
    link.onRestore(async () => {
      for (const [apiId, ttlMs] of this.apis) await this.renewApi(apiId, ttlMs);
    });
  }

  async announceEngine(engine: EnginePresence, ttlMs: number): Promise<boolean> {
    const { engineId, index, name } = engine;
    const { engines, places, enginesRevision } = this.keys;
    const keys = [this.keys.engine(engineId), engines, places, enginesRevision];
    const args = [engineId, JSON.stringify(engine), ttlMs, index, name];
    const isOwn = (await this.run(ANNOUNCE_ENGINE, keys, args)) === 1;
    this.link.standby.keep({ key: this.keys.engine(engineId), value: '', ttlMs });
    return isOwn;
  }

  async renewEngine(engineId: string, ttlMs: number): Promise<boolean> {
    const key = this.keys.engine(engineId);
    const { commands } = this.link;
    const renew = (): Promise<number[]> =>
      Promise.all([
        commands.pexpire(key, ttlMs),
        commands.sismember(this.keys.engines, engineId),
        commands.exists(this.keys.places),
      ]);
    return (await this.link.call('renewEngine', renew)).every((found) => found === 1);
  }

  async removeEngine(engineId: string): Promise<void> {
    this.link.standby.drop(this.keys.engine(engineId));
    const { engines, places, enginesRevision } = this.keys;
    const own = [this.keys.engine(engineId), this.keys.claim(engineId)] as const;
    await this.run(REMOVE_ENGINE, [own[0], engines, places, enginesRevision, own[1]], [engineId]);
  }

  /** A board that has not changed since the last read is neither sent nor parsed again. */
  async engines(): Promise<readonly EnginePresence[]> {
    const { revision, engines } = this.board;
    const keys = [this.keys.engines, this.keys.enginesRevision];
    const args = [this.keys.engine(''), revision, engines.length];
    const ask = (): Promise<unknown> => this.link.scripts.run(LIST_ENGINES, keys, args);
    const found = await this.link.ask(LIST_ENGINES.name, ask);
    if (!Array.isArray(found)) return engines;
    const [newer, living] = found as unknown as readonly [string, string[]];
    const parsed = living.map((json) => JSON.parse(json) as EnginePresence);
    this.board = { revision: newer, engines: parsed };
    return parsed;
  }

  async claimNumber(engineId: string, wanted = 0, of?: NameParts): Promise<number> {
    const keys = [this.keys.places, this.keys.claim(engineId)];
    const prefixes = [this.keys.engine(''), this.keys.claim('')];
    const { prefix = '', suffix = '' } = of ?? {};
    const args = [engineId, ...prefixes, CLAIM_TTL_MS, wanted, prefix, suffix];
    return Number(await this.run(CLAIM_NUMBER, keys, args));
  }

  async announceApi(apiId: string, ttlMs: number): Promise<void> {
    this.apis.set(apiId, ttlMs);
    await this.link.call('announceApi', () => this.renewApi(apiId, ttlMs));
  }

  async removeApi(apiId: string): Promise<void> {
    this.apis.delete(apiId);
    this.admission.forget(apiId);
    this.link.standby.drop(this.keys.api(apiId));
    await this.link.call('removeApi', () => this.link.commands.del(this.keys.api(apiId)));
  }

  async aliveApis(apiIds: readonly string[]): Promise<boolean[]> {
    if (apiIds.length === 0) return [];
    const keys = apiIds.map((id) => this.keys.api(id));
    const values = await this.link.ask('aliveApis', () => this.link.commands.mget(...keys));
    return values.map((value) => value !== null);
  }

  private async renewApi(apiId: string, ttlMs: number): Promise<void> {
    const wasAlive = await this.link.scripts.run(ANNOUNCE_API, [this.keys.api(apiId)], [ttlMs]);
    this.link.standby.keep({ key: this.keys.api(apiId), value: '', ttlMs });
    // It was considered dead meanwhile, so its shares are gone.
    if (wasAlive === 0) await this.admission.rewrite(apiId);
  }

  private run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<ScriptReply> {
    return this.link.call(script.name, () => this.link.scripts.run(script, keys, args));
  }
}
