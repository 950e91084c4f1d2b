const LATENCY_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80,
];

/** From 64 KiB to 1 GiB, doubling. */
const STATE_BYTES = Array.from({ length: 15 }, (_none, i) => 2 ** (16 + i));
const HISTOGRAMS = {
  'vllm:time_to_first_token_seconds': LATENCY_SECONDS,
  'vllm:inter_token_latency_seconds': LATENCY_SECONDS,
  'vllm:request_prefill_time_seconds': LATENCY_SECONDS,
  'vllm:e2e_request_latency_seconds': LATENCY_SECONDS,
  'vllm:nixl_xfer_time_seconds': LATENCY_SECONDS,
  'vllm:nixl_bytes_transferred': STATE_BYTES,
};

/** Some of vLLM's families, in Prometheus' text format. */
export class Metrics {
  constructor(labels) {
    this.labels = labels;
    this.counts = new Map();
    this.histograms = new Map();
    for (const name of COUNTERS) this.counts.set(name, 0);
    for (const [name, bounds] of Object.entries(HISTOGRAMS)) {
      this.histograms.set(name, { bounds, buckets: bounds.map(() => 0), sum: 0, count: 0 });
    }
  }

  add(name, amount = 1) {
    this.counts.set(name, (this.counts.get(name) ?? 0) + amount);
  }

  observe(name, amount) {
    const histogram = this.histograms.get(name);
    histogram.sum += amount;
    histogram.count += 1;
    histogram.bounds.forEach((bound, i) => {
      if (amount <= bound) histogram.buckets[i] += 1;
    });
  }

  /** @param gauges  present values by name */
  page(gauges) {
    const lines = [];
    for (const [name, now] of Object.entries(gauges)) this.family(lines, name, 'gauge', now);
    for (const [name, sum] of this.counts) this.counter(lines, name, sum);
    for (const [name, histogram] of this.histograms) this.histogram(lines, name, histogram);
    return `${lines.join('\n')}\n`;
  }

  family(lines, name, type, now) {
    lines.push(`# TYPE ${name} ${type}`, this.sample(name, now));
  }

  /** `vllm:request_success_total{finished_reason="stop"}` is one of several of its family. */
  counter(lines, key, sum) {
    const [, name, own = ''] = /^([^{]+)(?:\{(.*)\})?$/.exec(key);
    const type = `# TYPE ${name} counter`;
    if (!lines.includes(type)) lines.push(type);
    lines.push(this.sample(name, sum, own));
  }

  histogram(lines, name, { bounds, buckets, sum, count }) {
    lines.push(`# TYPE ${name} histogram`);
    buckets.forEach((n, i) => lines.push(this.sample(`${name}_bucket`, n, `le="${bounds[i]}"`)));
    lines.push(this.sample(`${name}_bucket`, count, 'le="+Inf"'));
    lines.push(this.sample(`${name}_sum`, sum), this.sample(`${name}_count`, count));
  }

  sample(name, now, own = '') {
    const labels = [`engine="0",model_name="${this.labels.model}"`, own].filter((each) => each);
    return `${name}{${labels.join(',')}} ${now}`;
  }
}

const COUNTERS = [
  'vllm:prompt_tokens_total',
  'vllm:generation_tokens_total',
  ...['stop', 'length', 'abort', 'error'].map(
    (reason) => `vllm:request_success_total{finished_reason="${reason}"}`,
  ),
  'vllm:nixl_num_failed_transfers_total',
  'vllm:nixl_num_kv_expired_reqs_total',
];
