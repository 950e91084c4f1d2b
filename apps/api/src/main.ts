import 'reflect-metadata';
import { runProcess } from './run-process';

void runProcess();
