import { memoryUsage } from 'node:process';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';

const CHECK_EVERY_MS = 5_000;
/** Growth from which a collection pays off, bytes. */
const MIN_GROWTH_BYTES = 32 * 2 ** 20;
/** Growth between two checks from which V8 soon collects by itself, bytes. */
const BUSY_GROWTH_BYTES = 8 * 2 ** 20;
/**
 * V8 starts to mark when external memory has grown by 64 MiB since the last collection
 * (`kExternalAllocationSoftLimit` in src/heap/heap.h of V8).
 */
const PRESSURE_BYTES = 65 * 2 ** 20;
/**
 * Tries per load: V8 ignores a buffer that is allocated while it marks, or that is garbage at once.
 */
const MOST_TRIES = 3;

/**
 * Makes V8 collect garbage after a load. V8 collects when a program allocates, so a process without
 * requests holds hundreds of megabytes of earlier bodies and answers. A new empty buffer makes V8
 * mark in its own threads; its pages are never touched, and the event loop does not wait as in a
 * call of `gc`. Nothing happens while the process serves requests.
 */
@Injectable()
export class MemoryRelease implements OnModuleInit, OnApplicationShutdown {
  private floor = Infinity;
  private last = 0;
  private tries = 0;
  private timer: NodeJS.Timeout | undefined;

  onModuleInit(): void {
    this.timer = setInterval(() => {
      const { heapUsed, arrayBuffers } = memoryUsage();
      if (this.isWorthIt(heapUsed + arrayBuffers)) void new ArrayBuffer(PRESSURE_BYTES);
    }, CHECK_EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Records the memory in use, bytes. True when a collection may free much of it. */
  isWorthIt(used: number): boolean {
    const isIdle = Math.abs(used - this.last) < BUSY_GROWTH_BYTES;
    this.last = used;
    this.floor = Math.min(this.floor, used);
    if (!isIdle) this.tries = 0;
    if (!isIdle || used - this.floor < MIN_GROWTH_BYTES) return false;
    this.tries += 1;
    // The memory that the last collection did not free is in use.
    if (this.tries === MOST_TRIES) this.floor = used;
    return true;
  }
}
