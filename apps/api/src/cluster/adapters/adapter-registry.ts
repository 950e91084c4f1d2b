import { readApiKeys, type Adapter, loraModulesOf } from '@baton/config';
import { RequestError } from '@baton/openai';
import { channels, type Unsubscribe } from '@baton/transport';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Tenant } from '../../http/request-context';
import { DocumentCollection } from '../document-collection';
import { Config, Log, Broker } from '../../tokens';

/**
 * Limit of adapters in a list: far more than an engine holds, and such a list still fits in one
 * document.
 */
const MAX_ADAPTERS = 1_000;
const ALL = 'all';
const KEPT_MS = 31 * 86_400_000;

interface AdapterList {
  readonly adapters: readonly Adapter[];
}

/** The adapters of one tenant, by name, in order of arrival. */
class Known {
  readonly names: readonly string[];
  readonly byName: ReadonlyMap<string, Adapter>;

  constructor(adapters: readonly Adapter[]) {
    this.byName = new Map(adapters.map((adapter) => [adapter.name, adapter]));
    this.names = [...this.byName.keys()];
  }
}

/**
 * The LoRA adapters that requests can name: those of the configuration and those loaded since. Each
 * tenant has its own list, which starts as a copy of the configuration's. All API processes share
 * the lists; each caches them and reads a list again when another process has changed it.
 */
@Injectable()
export class AdapterRegistry implements OnApplicationShutdown, OnModuleInit {
  /** True when adapters are configured or can be loaded while the cluster runs. */
  readonly isOn: boolean;
  private readonly configured: Known;
  private readonly changed = new Map<Tenant, Known>();
  private readonly shared: DocumentCollection<AdapterList>;
  private unsubscribe: Unsubscribe | undefined;

  constructor(
    private readonly config: Config,
    private readonly transport: Broker,
    private readonly logger: Log,
  ) {
    this.configured = new Known(loraModulesOf(config));
    this.isOn = config.allowRuntimeLoraUpdating || this.configured.names.length > 0;
    this.shared = new DocumentCollection(transport, {
      collection: 'adapters',
      maxEntries: 1,
      ttlMs: KEPT_MS,
    });
  }

  async onModuleInit(): Promise<void> {
    if (!this.config.allowRuntimeLoraUpdating) return;
    const { bus } = this.transport;
    this.unsubscribe = await bus.subscribe(channels.adapters, (payload) => {
      const name = payload.toString();
      void this.read(name === '' ? undefined : name);
    });
    const tenants = new Set(readApiKeys(this.config).map(({ tenant }) => tenant));
    const owners: readonly Tenant[] = tenants.size === 0 ? [undefined] : [...tenants];
    await Promise.all(owners.map((owner) => this.open(owner)));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.unsubscribe?.().catch(() => undefined);
  }

  of(owner: Tenant): Known {
    return this.changed.get(owner) ?? this.configured;
  }

  /** All adapters of the tenant, in order of arrival. */
  all(owner: Tenant): readonly Adapter[] {
    return [...this.of(owner).byName.values()];
  }

  find(name: string, owner: Tenant): Adapter | undefined {
    return this.of(owner).byName.get(name);
  }

  /** Throws when an adapter of that name exists, unless `inPlace`, or when there are too many. */
  load(owner: Tenant, adapter: Adapter, inPlace: boolean): Promise<void> {
    return this.change(owner, (adapters) => {
      const others = adapters.filter(({ name }) => name !== adapter.name);
      if (others.length < adapters.length && !inPlace) throw alreadyLoaded(adapter.name);
      if (others.length >= MAX_ADAPTERS) throw tooMany();
      return [...others, adapter];
    });
  }

  /** Throws when there is none of that name. */
  unload(owner: Tenant, name: string): Promise<void> {
    return this.change(owner, (adapters) => {
      const others = adapters.filter((adapter) => adapter.name !== name);
      if (others.length === adapters.length) throw notLoaded(name);
      return others;
    });
  }

  private async open(owner: Tenant): Promise<void> {
    const isShared = await this.read(owner);
    if (!isShared) await this.shared.add({ owner, id: ALL }, { adapters: this.all(owner) });
  }

  private async change(
    owner: Tenant,
    next: (adapters: readonly Adapter[]) => readonly Adapter[],
  ): Promise<void> {
    const at = { owner, id: ALL };
    const changed = await this.shared.update(at, ({ adapters }) => ({ adapters: next(adapters) }));
    // The broker has lost its data since the start, so the copy of this process becomes the list.
    if (changed === undefined) await this.shared.add(at, { adapters: next(this.all(owner)) });
    await this.read(owner);
    this.transport.bus.publish(channels.adapters, Buffer.from(owner ?? ''));
  }

  /** True when the broker has the list. */
  private async read(owner: Tenant): Promise<boolean> {
    try {
      const list = await this.shared.find({ owner, id: ALL });
      if (list !== undefined) this.changed.set(owner, new Known(list.adapters));
      return list !== undefined;
    } catch (error) {
      this.logger.warn({ err: error }, 'reading the list of LoRA adapters failed');
      return false;
    }
  }
}

function alreadyLoaded(name: string): RequestError {
  return invalid(
    `The lora adapter '${name}' has already been loaded. If you want to load the adapter in ` +
      `place, set 'load_inplace' to True.`,
  );
}

function notLoaded(name: string): RequestError {
  const text = {
    message: `The lora adapter '${name.slice(0, 256)}' cannot be found.`,
    param: null,
  };
  return new RequestError('adapter_not_found', text);
}

function tooMany(): RequestError {
  return invalid(`More than ${MAX_ADAPTERS} adapters cannot be loaded.`);
}

function invalid(message: string): RequestError {
  const text = { message, param: null };
  return new RequestError('invalid_adapter', text);
}
