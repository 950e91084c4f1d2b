import 'reflect-metadata';
import { runWorker } from '@baton/worker';
import { PrefillModule } from './prefill.module';

void runWorker({ roles: ['prefill'], module: PrefillModule.forRoot });
