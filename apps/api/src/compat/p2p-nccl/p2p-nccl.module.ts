import { Module } from '@nestjs/common';
import { LegForms } from '../../routers/leg-forms';
import { RoutersModule } from '../../routers/routers.module';

const ADDRESSES = /^(?:chat)?(?:cmpl-)?___prefill_addr_.+___decode_addr_.+$/;

/** The legs of vLLM's xPyD proxy for P2pNccl, and of MoRI-IO's in write mode. */
@Module({ imports: [RoutersModule] })
export class P2pNcclModule {
  constructor(forms: LegForms) {
    forms.add({ sign: { requestId: ADDRESSES }, load: () => import('./leg') });
  }
}
