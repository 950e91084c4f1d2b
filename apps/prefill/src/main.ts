import 'reflect-metadata';
import { runWorker } from '@baton/runtime';
import { PrefillModule } from './prefill.module';

void runWorker({ roles: ['prefill'], module: (probe) => PrefillModule.forRoot(probe) });
