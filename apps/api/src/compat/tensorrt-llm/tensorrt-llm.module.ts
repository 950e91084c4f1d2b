import { Module } from '@nestjs/common';
import { LegForms } from '../../routers/leg-forms';
import { RoutersModule } from '../../routers/routers.module';

/** The legs of TensorRT-LLM's orchestrator. */
@Module({ imports: [RoutersModule] })
export class TensorrtLlmModule {
  constructor(forms: LegForms) {
    forms.add({ sign: { field: 'disaggregated_params' }, load: () => import('./leg') });
  }
}
