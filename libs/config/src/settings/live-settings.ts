import { channels, type Transport, type Unsubscribe } from '@baton/transport';
import type { Logger } from 'pino';
import type { BatonConfig } from '../config';
import { placerSpec } from '../placement-spec';
import { type ChangeableKey, type Changes, readChanges, withChanges } from './changeable';

/** The present values. */
export interface Settings {
  /** 0 at the start of the cluster; each change adds 1. */
  readonly revision: number;
  /** The configuration of this process with all changes applied. */
  readonly config: BatonConfig;
  /**
   * When each option was changed last, wall µs since the Unix epoch; for the others, when this
   * process started to follow them.
   */
  readonly sinceUs: (key: ChangeableKey) => number;
}

/** The form in the broker: the changes since the start of the cluster. */
interface Stored {
  readonly revision: number;
  readonly changes: Changes;
  readonly sinceUs: Partial<Record<ChangeableKey, number>>;
}

export interface LiveSettingsOptions {
  readonly config: BatonConfig;
  readonly transport: Transport;
  /** Wall µs since the Unix epoch. */
  readonly nowUs: () => number;
  readonly log?: Logger;
}

const PLACE = { collection: 'settings', id: 'current' } as const;
/** Twenty days, because a timer cannot wait for a month. */
const BOUNDS = { maxEntries: 1, ttlMs: 1_728_000_000 } as const;
const NOTHING: Stored = { revision: 0, changes: {}, sinceUs: {} };
/** Others may change settings at the same time. */
const TRIES = 10;

/**
 * One process's copy of the settings that change while the cluster runs. The broker has the
 * authoritative copy, and a message only signals a change, so a process that starts late or missed
 * the message reads the same. Revisions only rise: a process with a later one than the broker,
 * which has then lost its data, stores it again. Without `enable_admin` nothing changes and nothing
 * is read.
 */
export class LiveSettings {
  private stored = NOTHING;
  private settings: Settings;
  private readonly startedUs: number;
  private readonly listeners: ((settings: Settings) => void)[] = [];
  private unsubscribe: Unsubscribe | undefined;

  constructor(private readonly options: LiveSettingsOptions) {
    this.startedUs = options.nowUs();
    this.settings = this.settingsOf(NOTHING);
  }

  get current(): Settings {
    return this.settings;
  }

  /** Calls the listener immediately, and after every change. */
  follow(listener: (settings: Settings) => void): void {
    this.listeners.push(listener);
    listener(this.settings);
  }

  async start(): Promise<void> {
    const { config, transport } = this.options;
    if (!config.enableAdmin) return;
    const { settings } = channels;
    this.unsubscribe = await transport.bus.subscribe(settings, () => void this.reload());
    transport.onConnection((event) => {
      if (event !== 'lost') void this.reload();
    });
    await this.reload();
  }

  async stop(): Promise<void> {
    await this.unsubscribe?.().catch(() => undefined);
  }

  /**
   * Checks everything, then changes it for the whole cluster. Resolves when it is stored and
   * applied in this process.
   *
   * @throws UsageError for the first error; then nothing has changed
   */
  async change(given: Readonly<Record<string, unknown>>): Promise<Settings> {
    const { bus, documents } = this.options.transport;
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const { text, stored } = await this.read();
      const next = this.changed(stored, given);
      const document = JSON.stringify(next);
      const from = text ?? JSON.stringify(stored);
      if (text === undefined) await documents.put(PLACE, from, BOUNDS);
      const outcome = await documents.replace(PLACE, { from, to: document }, BOUNDS);
      if (outcome !== 'replaced') continue;
      this.apply(next);
      bus.publish(channels.settings, Buffer.from(String(next.revision)));
      break;
    }
    return this.settings;
  }

  private changed(
    { revision, changes, sinceUs }: Stored,
    given: Readonly<Record<string, unknown>>,
  ): Stored {
    const now = withChanges(this.options.config, changes);
    const more = readChanges(given, now);
    placerSpec(withChanges(now, more));
    const nowUs = this.options.nowUs();
    const since = Object.keys(more).map((key) => [key, nowUs]);
    return {
      revision: revision + 1,
      changes: { ...changes, ...more },
      sinceUs: { ...sinceUs, ...(Object.fromEntries(since) as Stored['sinceUs']) },
    };
  }

  private async read(): Promise<{ text: string | undefined; stored: Stored }> {
    const text = await this.options.transport.documents.get(PLACE);
    const stored = text === undefined ? NOTHING : (JSON.parse(text) as Stored);
    return stored.revision >= this.stored.revision
      ? { text, stored }
      : { text: undefined, stored: this.stored };
  }

  private async reload(): Promise<void> {
    try {
      const { text, stored } = await this.read();
      if (text === undefined && stored.revision > 0) {
        await this.options.transport.documents.put(PLACE, JSON.stringify(stored), BOUNDS);
      }
      if (stored.revision > this.stored.revision) this.apply(stored);
    } catch (error) {
      this.options.log?.debug({ err: error }, 'settings not read');
    }
  }

  private apply(stored: Stored): void {
    this.stored = stored;
    this.settings = this.settingsOf(stored);
    this.options.log?.info({ revision: stored.revision }, 'settings changed');
    for (const listener of this.listeners) listener(this.settings);
  }

  private settingsOf({ revision, changes, sinceUs }: Stored): Settings {
    return {
      revision,
      config: withChanges(this.options.config, changes),
      sinceUs: (key) => sinceUs[key] ?? this.startedUs,
    };
  }
}
