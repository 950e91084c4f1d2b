/** The `kv_transfer_params` that vLLM's proxies add to the prefill leg (`toy_proxy_server.py`). */
export const HOLD = {
  do_remote_decode: true,
  do_remote_prefill: false,
  remote_engine_id: null,
  remote_block_ids: null,
  remote_host: null,
  remote_port: null,
};
