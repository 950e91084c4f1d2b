import { readdirSync, readFileSync } from 'node:fs';
import { renderNumbers } from '@baton/telemetry';
import { Injectable } from '@nestjs/common';
import { LiveSequences } from '../port/state';

const BYTES_PER_PAGE = 4_096;

/** Process metrics under the names of Prometheus' client libraries, and the fill of its tables. */
@Injectable()
export class ProcessMetrics {
  constructor(private readonly sequences: LiveSequences) {}

  render(): string {
    const { user, system } = process.cpuUsage();
    const startSeconds = performance.timeOrigin / 1_000;
    const numbers = [
      gauge(
        'process_resident_memory_bytes',
        'Resident memory size in bytes.',
        process.memoryUsage.rss(),
      ),
      gauge(
        'process_start_time_seconds',
        'Start time of the process since unix epoch in seconds.',
        startSeconds,
      ),
      gauge('baton:api_live_sequences', 'Sequences under way at this front.', this.sequences.size),
    ];
    const cpu = renderNumbers(
      {
        name: 'process_cpu_seconds_total',
        help: 'Total user and system CPU time spent in seconds.',
      },
      'counter',
      [{ labels: {}, value: (user + system) / 1e6 }],
    );
    return [cpu, ...numbers, ...kernelNumbers()].join('');
  }
}

/** Figures that only the kernel has; empty without /proc. */
function kernelNumbers(): string[] {
  try {
    const pages = Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[0]);
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    const open = readdirSync('/proc/self/fd').length;
    return [
      gauge(
        'process_virtual_memory_bytes',
        'Virtual memory size in bytes.',
        pages * BYTES_PER_PAGE,
      ),
      gauge('process_open_fds', 'Number of open file descriptors.', open),
      gauge(
        'process_max_fds',
        'Maximum number of open file descriptors.',
        Number(limit?.[1] ?? Infinity),
      ),
    ];
  } catch {
    return [];
  }
}

function gauge(name: string, help: string, value: number): string {
  return renderNumbers({ name, help }, 'gauge', [{ labels: {}, value }]);
}
