import 'reflect-metadata';
import { runWorker } from '@baton/engine-host';
import { DecodeModule } from './decode.module';

void runWorker({ roles: ['decode', 'aggregated'], module: DecodeModule.forRoot });
