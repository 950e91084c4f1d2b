import { setFlagsFromString } from 'node:v8';

/**
 * How much bytecode a function runs before V8 looks at it again to optimise it: less than half of
 * the default of Node 20 (66 KiB). The first thousands of requests cost a sixth less processor
 * time, later ones no more: figures in the commit that made this file.
 */
setFlagsFromString('--interrupt-budget=30000');
