import 'reflect-metadata';
import { runWorker } from '@baton/runtime';
import { DecodeModule } from './decode.module';

void runWorker({ roles: ['decode', 'aggregated'], module: (probe) => DecodeModule.forRoot(probe) });
