import { type Adapter, type BatonConfig, loraModulesOf } from '@baton/config';
import { RequestError } from '@baton/openai';
import type { Logger } from '@baton/telemetry';
import { channels, type Transport, type Unsubscribe } from '@baton/transport';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DocumentCollection } from '../document-collection';
import { CONFIG, LOGGER, TRANSPORT } from '../../tokens';

/** Far above what any engine holds; a list of this length still fits one document. */
const MAX_ADAPTERS = 1_000;
const ALL = 'all';
const KEPT_MS = 31 * 86_400_000;

interface AdapterList {
  readonly adapters: readonly Adapter[];
}

/**
 * The LoRA adapters that can be asked for: those of the configuration, and what was loaded since.
 * All API processes share one list; each keeps a copy, which it reads again when another has
 * changed it.
 */
@Injectable()
export class AdapterRegistry implements OnApplicationShutdown, OnModuleInit {
  private known: ReadonlyMap<string, Adapter> = new Map();
  /** The names of all adapters that can be asked for, in order of arrival. */
  names: readonly string[] = [];
  private readonly shared: DocumentCollection<AdapterList>;
  private isShared = false;
  private unsubscribe: Unsubscribe | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(TRANSPORT) private readonly transport: Transport,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.keep(loraModulesOf(config));
    this.shared = new DocumentCollection(transport, {
      collection: 'adapters',
      maxEntries: 1,
      ttlMs: KEPT_MS,
    });
  }

  async onModuleInit(): Promise<void> {
    if (!this.config.allowRuntimeLoraUpdating) return;
    const { bus } = this.transport;
    this.unsubscribe = await bus.subscribe(channels.adapters, () => void this.read());
    await this.read();
    if (!this.isShared) await this.shared.add(ALL, { adapters: this.all() });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.unsubscribe?.().catch(() => undefined);
  }

  /** All adapters, in order of arrival. */
  all(): readonly Adapter[] {
    return [...this.known.values()];
  }

  find(name: string): Adapter | undefined {
    return this.known.get(name);
  }

  /** Throws when an adapter of that name exists, unless `inPlace`, or when there are too many. */
  load(adapter: Adapter, inPlace: boolean): Promise<void> {
    return this.change((adapters) => {
      const others = adapters.filter(({ name }) => name !== adapter.name);
      if (others.length < adapters.length && !inPlace) throw alreadyLoaded(adapter.name);
      if (others.length >= MAX_ADAPTERS) throw tooMany();
      return [...others, adapter];
    });
  }

  /** Throws when there is none of that name. */
  unload(name: string): Promise<void> {
    return this.change((adapters) => {
      const others = adapters.filter((adapter) => adapter.name !== name);
      if (others.length === adapters.length) throw notLoaded(name);
      return others;
    });
  }

  private async change(next: (adapters: readonly Adapter[]) => readonly Adapter[]): Promise<void> {
    const changed = await this.shared.update(ALL, ({ adapters }) => ({ adapters: next(adapters) }));
    // The broker has lost its data since the start: what is known here is the list.
    if (changed === undefined) await this.shared.add(ALL, { adapters: next(this.all()) });
    await this.read();
    this.transport.bus.publish(channels.adapters, Buffer.from(ALL));
  }

  private async read(): Promise<void> {
    try {
      const list = await this.shared.find(ALL);
      this.isShared = list !== undefined;
      if (list !== undefined) this.keep(list.adapters);
    } catch (error) {
      this.logger.warn({ err: error }, 'list of adapters not read');
    }
  }

  private keep(adapters: readonly Adapter[]): void {
    this.known = new Map(adapters.map((adapter) => [adapter.name, adapter]));
    this.names = [...this.known.keys()];
  }
}

function alreadyLoaded(name: string): RequestError {
  return invalid(
    `The lora adapter '${name}' has already been loaded. If you want to load the adapter in ` +
      `place, set 'load_inplace' to True.`,
  );
}

function notLoaded(name: string): RequestError {
  const text = { message: `The lora adapter '${name}' cannot be found.`, param: null };
  return new RequestError('adapter_not_found', text, text);
}

function tooMany(): RequestError {
  return invalid(`More than ${MAX_ADAPTERS} adapters cannot be loaded.`);
}

function invalid(message: string): RequestError {
  const text = { message, param: null };
  return new RequestError('invalid_adapter', text, text);
}
