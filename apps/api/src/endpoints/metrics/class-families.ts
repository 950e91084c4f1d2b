import { Injectable } from '@nestjs/common';
import { FlowMetrics } from '../../observers/metrics/flow-metrics';
import { SloMetrics } from '../../observers/metrics/slo-metrics';
import { TenantMetrics } from '../../observers/metrics/tenant-metrics';

/** The metrics of this process by tenant and SLO class. */
@Injectable()
export class ClassFamilies {
  constructor(
    private readonly tenants: TenantMetrics,
    private readonly slo: SloMetrics,
    private readonly flow: FlowMetrics,
  ) {}

  render(): string[] {
    return [this.tenants.render(), this.slo.render(), this.flow.render()];
  }
}
