import 'reflect-metadata';
import { runApi } from './run-api';

void runApi();
