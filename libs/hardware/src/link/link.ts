import { findByName, type Named } from '../find-by-name';

/** A path for KV from one engine to another. */
export interface Link extends Named {
  /** Rate of arriving bytes, below the line rate: one direction of one port. */
  readonly bytesPerSecond: number;
  /** Time from the request to the first byte: handshake, descriptors, registration. */
  readonly baseLatencyUs: number;
  readonly source: string;
}

/**
 * By default a port reaches 80 % of its line rate. Measurements vary: Mooncake's engine reaches 90
 * % of 4 × 200 Gbit/s and 50 % of 8 × 400 Gbit/s (FAST'25, figure 12), and llm-d suggests 40 of 50
 * GB/s for InfiniBand NDR.
 */
export const LINKS: readonly Link[] = [
  {
    name: 'nvlink',
    aliases: ['nvlink4', 'nvswitch'],
    bytesPerSecond: 354e9,
    baseLatencyUs: 100,
    source: 'APEX+ send/receive on H100: 128 MB in 379 µs; latency: lower end of llm-d',
  },
  {
    name: 'infiniband-ndr',
    aliases: ['ndr', 'ib-ndr', 'infiniband', 'ib', 'infiniband-400g', 'ib-400g'],
    bytesPerSecond: 40e9,
    baseLatencyUs: 500,
    source: 'llm-d-inference-sim latency profiles: 40 GB/s, 0.5 to 2 ms',
  },
  {
    name: 'infiniband-hdr',
    aliases: ['hdr', 'ib-hdr', 'infiniband-200g', 'ib-200g'],
    bytesPerSecond: 20e9,
    baseLatencyUs: 500,
    source: 'half of NDR',
  },
  {
    name: 'roce-400g',
    aliases: ['roce', 'roce-400', 'roce-400gbe', '400gbe', 'rocev2-400g'],
    bytesPerSecond: 40e9,
    baseLatencyUs: 500,
    source: 'line rate of NDR; latency: 0.4 ms fitted to vLLM with Mooncake over RoCE, 1.8 SGLang',
  },
  {
    name: 'roce-200g',
    aliases: ['roce-200', 'roce-200gbe', '200gbe', 'rocev2-200g'],
    bytesPerSecond: 20e9,
    baseLatencyUs: 500,
    source: 'llm-d-inference-sim latency profiles: 20 GB/s; latency as RoCE 400',
  },
  {
    name: '100gbe',
    aliases: ['100g', 'ethernet-100g', '100-gbe', 'tcp-100g'],
    bytesPerSecond: 10e9,
    baseLatencyUs: 2000,
    source: 'llm-d-inference-sim latency profiles: 10 GB/s; latency: lower end for Ethernet',
  },
  {
    name: '25gbe',
    aliases: ['25g', 'ethernet-25g', '25-gbe', 'tcp-25g'],
    bytesPerSecond: 2.5e9,
    baseLatencyUs: 2000,
    source: 'llm-d-inference-sim latency profiles: 2.5 GB/s, 2 to 10 ms',
  },
  {
    name: 'pcie',
    aliases: ['pcie4', 'pcie-gen4', 'pcie-4', 'pcie4-x16'],
    bytesPerSecond: 25.6e9,
    baseLatencyUs: 100,
    source: 'PCIe 4.0 x16: 32 GB/s line rate (AIConfigurator a100_sxm); latency as NVLink',
  },
  {
    name: 'pcie5',
    aliases: ['pcie-gen5', 'pcie-5', 'pcie5-x16'],
    bytesPerSecond: 51.2e9,
    baseLatencyUs: 100,
    source: 'PCIe 5.0 x16: 64 GB/s line rate (AIConfigurator h100_sxm); latency as NVLink',
  },
];

/** @throws HardwareError `unknown-name` */
export function findLink(name: string): Link {
  return findByName('link', LINKS, name);
}

export interface LinkTiming {
  /** Fixed time of a transfer of any size (llm-d-inference-sim: `kv-cache-transfer-latency`). */
  readonly latencyMs?: number | undefined;
  /** Time per transferred token (llm-d-inference-sim: `kv-cache-transfer-time-per-token`). */
  readonly perTokenMs?: number | undefined;
  readonly kvBytesPerToken: number;
}

/**
 * A link with the user's times instead of those of the catalogue. Without a time per token its rate
 * is unlimited.
 */
export function linkFromTiming(timing: LinkTiming): Link {
  const { latencyMs = 0, perTokenMs = 0, kvBytesPerToken } = timing;
  return {
    name: 'custom',
    aliases: [],
    bytesPerSecond: perTokenMs > 0 ? kvBytesPerToken / (perTokenMs / 1000) : Infinity,
    baseLatencyUs: Math.round(latencyMs * 1000),
    source: 'kv_cache_transfer_latency and kv_cache_transfer_time_per_token',
  };
}
