import { Module } from '@nestjs/common';
import { LegForms } from '../../routers/leg-forms';
import { RoutersModule } from '../../routers/routers.module';

/** The prefill leg of LMCache's own proxy. */
@Module({ imports: [RoutersModule] })
export class LmcacheModule {
  constructor(forms: LegForms) {
    forms.add({ sign: { param: 'ret_first_tok' }, load: () => import('./leg') });
  }
}
