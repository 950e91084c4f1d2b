import 'reflect-metadata';
import { runWorker } from '@baton/engine-host';
import { PrefillModule } from './prefill.module';

void runWorker({ roles: ['prefill'], module: PrefillModule.forRoot });
