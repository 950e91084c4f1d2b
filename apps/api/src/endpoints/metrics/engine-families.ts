import { type BatonConfig, LiveSettings, shownEngines } from '@baton/config';
import type { EnginePresence } from '@baton/contract';
import { withUpstreamMetrics } from '@baton/engine-host';
import { cacheConfigLabels, renderEngineMetrics } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import { Inject, Injectable } from '@nestjs/common';
import { ModelCatalog } from '../../cluster/model-catalog';
import { renderFakeLoras } from '../../observers/metrics/fake-loras';
import { renderLoraInfo } from '../../observers/metrics/lora-info';
import { CONFIG, TRANSPORT } from '../../tokens';

/** The metrics of engines, from their presence and from the servers behind them. */
@Injectable()
export class EngineFamilies {
  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    @Inject(TRANSPORT) private readonly transport: Transport,
    @Inject(LiveSettings) private readonly settings: LiveSettings,
    private readonly catalog: ModelCatalog,
  ) {}

  render(engines: readonly EnginePresence[]): string {
    const shown = shownEngines(engines, this.settings.current, Date.now() * 1_000);
    const cacheConfig = cacheConfigLabels(this.config, this.catalog.maxModelLen);
    return renderEngineMetrics(shown, { cacheConfig, flavour: this.config.metricsFlavour });
  }

  renderLoras(engines: readonly EnginePresence[]): string {
    return renderFakeLoras(this.settings.current.config) || renderLoraInfo(engines, this.config);
  }

  /** The page with the families of servers that answer for engines. */
  withServers(page: string, engines: readonly EnginePresence[]): Promise<string> {
    const { config, transport } = this;
    return withUpstreamMetrics(page, engines, { config, transport });
  }
}
