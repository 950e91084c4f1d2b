/** One end of a transfer. */
export interface KvPorts {
  /** Ports of the engine: one for each tensor-parallel rank. */
  readonly ports: number;
  /** KV bytes of one prompt token that one rank stores. */
  readonly bytesPerToken: number;
}

/**
 * Number of the source's ports that send to one port of the target. With more ranks at the target,
 * several of them read from the same source rank and share its port: 1/4 from 1 rank to 4. With
 * more ranks at the source, a target rank reads its heads from several of them: 4 from 4 ranks to
 * 1. Every rank has the whole latent vector, so one source rank sends it
 * (`get_target_remote_ranks` of vLLM's NIXL connector).
 */
export function sourcePortsOf(source: KvPorts, target: KvPorts): number {
  if (target.ports > source.ports) return source.ports / target.ports;
  return target.bytesPerToken / source.bytesPerToken;
}
