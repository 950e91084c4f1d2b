import 'reflect-metadata';
import { runWorker } from '@baton/worker';
import { DecodeModule } from './decode.module';

void runWorker({ roles: ['decode', 'aggregated'], module: DecodeModule.forRoot });
