"""Drives vLLM's own Scheduler over workloads, one JSON document per line of stdin, and answers each with one line: what every step did.

A step is schedule() and update_from_output() with made-up tokens. Token ids follow from the workload alone.
"""

import collections
import json
import sys
from types import SimpleNamespace

import stand_ins

stand_ins.install(sys.argv[1])

from vllm.utils.hashing import sha256  # noqa: E402
from vllm.v1.core import kv_cache_utils  # noqa: E402
from vllm.v1.core.sched import scheduler as scheduling  # noqa: E402
from vllm.v1.core.sched.async_scheduler import AsyncScheduler  # noqa: E402
from vllm.v1.kv_cache_interface import (  # noqa: E402
    ChunkedLocalAttentionSpec,
    FullAttentionSpec,
    KVCacheConfig,
    KVCacheGroupSpec,
    SlidingWindowSpec,
)
from vllm.v1.outputs import KVConnectorOutput, ModelRunnerOutput  # noqa: E402
from vllm.v1.request import Request, RequestStatus  # noqa: E402

requests = sys.modules["vllm.v1.request"]
requests.length_from_prompt_token_ids_or_embeds = lambda ids, embeds: len(ids)
requests.StructuredOutputRequest.from_sampling_params = lambda params: None

STOP_TOKEN = 7
SENT_STATUSES = (
    RequestStatus.FINISHED_LENGTH_CAPPED,
    RequestStatus.FINISHED_STOPPED,
)
MOST_STEPS = 3000
IDLE_STEPS = 60
STUCK_STEPS = 2


class Connector:
    """Loads remote KV asynchronously, and holds the blocks of ended requests until they have been sent, as NIXL's does.

    Each request names the number of steps that this takes.
    """

    requires_kv_delivery = False
    supports_divergent_local_hybrid_hits = False

    def __init__(self):
        self.reserved = []
        self.loaded = set()

    def get_num_new_matched_tokens(self, request, num_computed_tokens):
        remote = request.remote_tokens if request.request_id not in self.loaded else 0
        missing = max(0, remote - num_computed_tokens)
        return missing, missing > 0

    def update_state_after_alloc(self, request, blocks, num_external_tokens):
        self.loaded.add(request.request_id)
        if num_external_tokens > 0:
            self.reserved.append((request.request_id, num_external_tokens))

    def get_loaded_kv_cache_group_ids(self, request):
        return ()

    def request_finished(self, request, block_ids):
        has_blocks = any(len(group) > 0 for group in block_ids)
        is_held = request.is_sent and request.status in SENT_STATUSES and has_blocks
        return is_held, None

    request_finished_all_groups = request_finished

    def has_pending_block_frees(self):
        return False

    def take_events(self):
        return ()

    def _nothing(self, *args, **kwargs):
        return None

    def __getattr__(self, name):
        return self._nothing


# It takes part in the hybrid KV cache manager.
scheduling.SupportsHMA = Connector


def places_of(options):
    """Batches that may be in flight."""
    return options.get("stages", 1) + (1 if options.get("asyncScheduling") else 0)


def config_of(options):
    spec_tokens = options.get("specTokens", 0)
    none = SimpleNamespace
    transfer = none(
        kv_load_failure_policy="recompute",
        is_kv_consumer=True,
        is_kv_producer=False,
    )
    drafter = options.get("drafter")
    uses_eagle = drafter == "eagle"
    lookahead = spec_tokens if drafter else 0
    speculative = none(
        num_speculative_tokens=spec_tokens,
        num_speculative_tokens_per_batch_size=None,
        max_num_new_slots_for_drafting=0,
        disable_eagle_block_drop=False,
        use_eagle=lambda: uses_eagle,
        use_eagle_block_drop=lambda: uses_eagle,
        needs_eagle_block_drop=lambda: uses_eagle,
        uses_draft_model=lambda: drafter == "draft-model",
    )
    return none(
        scheduler_config=none(
            max_num_seqs=options["maxNumSeqs"],
            max_num_active_seqs=None,
            max_num_scheduled_tokens=None,
            max_num_batched_tokens=options["maxNumBatchedTokens"],
            long_prefill_token_threshold=options["longPrefillTokenThreshold"],
            long_prefill_token_threshold_adaptive=False,
            prefill_schedule_interval=1,
            policy=options["schedulingPolicy"],
            enable_chunked_prefill=options["enableChunkedPrefill"],
            scheduler_reserve_full_isl=options["schedulerReserveFullIsl"],
            watermark=(options["watermarkBlocks"] + 0.5) / (options["numBlocks"] + 1)
            if options["watermarkBlocks"]
            else 0.0,
            async_scheduling=options.get("asyncScheduling", False),
            disable_chunked_mm_input=False,
        ),
        cache_config=none(
            block_size=options["blockSize"],
            enable_prefix_caching=options["enablePrefixCaching"],
            num_gpu_blocks=options["numBlocks"] + 1,
            mamba_cache_mode="none",
            enable_mamba_shared_prefix_checkpoint=False,
        ),
        model_config=none(
            max_model_len=options["maxModelLen"],
            uses_mrope=False,
            is_encoder_decoder=False,
            is_diffusion=False,
            runner_type="generate",
            supports_multimodal_inputs=False,
            enable_return_routed_experts=False,
            return_sampling_mask=False,
        ),
        parallel_config=none(
            data_parallel_index=0,
            data_parallel_size=1,
            pipeline_parallel_size=options.get("stages", 1),
            decode_context_parallel_size=1,
            prefill_context_parallel_size=1,
        ),
        observability_config=none(
            kv_cache_metrics=False,
            kv_cache_metrics_sample=0,
            per_request_spec_decode_metrics="none",
            enable_mfu_metrics=False,
            enable_logging_iteration_details=False,
        ),
        lora_config=None,
        kv_events_config=None,
        kv_transfer_config=transfer if options.get("connector") else None,
        ec_transfer_config=None,
        speculative_config=speculative if spec_tokens else None,
        ec_manager_config=none(get_encoder_cache_manager_obj=lambda: None),
        aux_output_config=none(enabled=False),
        is_mm_encoder_only=False,
        max_concurrent_batches=places_of(options),
        max_in_flight_tokens=options["maxNumBatchedTokens"] * places_of(options),
        num_hash_lookahead_tokens=0,
        num_lookahead_tokens=lookahead,
        num_prefill_lookahead_tokens=1 if uses_eagle else 0,
        num_speculative_tokens=spec_tokens,
        # Only Model Runner V2 schedules stages asynchronously.
        use_v2_model_runner=options.get("asyncScheduling", False)
        and options.get("stages", 1) > 1,
    )


def specs_of(options):
    """One for each group of layers."""
    groups = options.get("kvGroups")
    size = {
        "block_size": options["blockSize"],
        "num_kv_heads": 1,
        "head_size": 1,
        "dtype": "float16",
    }
    full = FullAttentionSpec(**size)
    if groups is None:
        return [full]
    tokens = groups["windowTokens"]
    windowed = (
        ChunkedLocalAttentionSpec(**size, attention_chunk_size=tokens)
        if groups.get("isChunked")
        else SlidingWindowSpec(**size, sliding_window=tokens)
    )
    return [full] * groups["full"] + [windowed] * groups["windowed"]


def drafter_of(options, spec):
    """The layers of an EAGLE drafter attend to the whole context. Old versions do not ask which they are."""
    if "is_eagle_group" not in KVCacheGroupSpec.__dataclass_fields__:
        return {}
    drafts = options.get("drafter") == "eagle"
    return {"is_eagle_group": drafts and isinstance(spec, FullAttentionSpec)}


def scheduler_of(options):
    block_size = options["blockSize"]
    kv_cache = KVCacheConfig(
        num_blocks=options["numBlocks"] + 1,
        kv_cache_tensors=[],
        kv_cache_groups=[
            KVCacheGroupSpec([f"layer {i}"], spec, **drafter_of(options, spec))
            for i, spec in enumerate(specs_of(options))
        ],
    )
    connector = Connector() if options.get("connector") else None
    scheduling.KVConnectorFactory.create_connector = lambda *args, **kwargs: connector
    kind = AsyncScheduler if options.get("asyncScheduling") else scheduling.Scheduler
    scheduler = kind(
        vllm_config=config_of(options),
        kv_cache_config=kv_cache,
        structured_output_manager=SimpleNamespace(
            should_advance=lambda request: False, accept_tokens=lambda *args: True
        ),
        block_size=block_size,
        log_stats=False,
    )
    return scheduler, connector


def tokens_of(segments):
    return [base * 4096 + i for base, count in segments for i in range(count)]


def names_of(names):
    return [str(int(name)) for name in names]


def holds_blocks(request):
    return (
        request.num_computed_tokens > 0
        or request.status == RequestStatus.WAITING_FOR_REMOTE_KVS
    )


def line_of(**fields):
    """What one step did: fields in this order, empty ones at the end left out."""
    return ";".join(" ".join(values) for values in fields.values()).rstrip(";")


def answer_of(names, sampled, transfers):
    """What the model runner answers: the sampled tokens, and what the connector reports."""
    return ModelRunnerOutput(
        req_ids=names,
        req_id_to_index={name: i for i, name in enumerate(names)},
        sampled_token_ids=sampled,
        logprobs=None,
        prompt_logprobs_dict={},
        pooler_output=[],
        kv_connector_output=transfers,
    )


class Run:
    def __init__(self, workload):
        self.options = workload["options"]
        self.specs = {f"{i:03d}": spec for i, spec in enumerate(workload["requests"])}
        stand_ins.seal(False)
        self.scheduler, self.connector = scheduler_of(self.options)
        stand_ins.seal(True)
        self.hasher = kv_cache_utils.get_request_block_hasher(
            self.options["blockSize"], sha256
        )
        self.pool = self.scheduler.kv_cache_manager.block_pool
        self.arrivals = {}
        self.loads = {}
        self.aborts = {}
        self.loading = set()
        self.sends = {}
        self.ended = set()
        self.hits = {}
        self.now = 0
        self.moved = {}
        self.seen = {}
        self.twin_at = None
        self.in_flight_at = None
        self.watch()
        for name, spec in self.specs.items():
            if spec.get("after") is None:
                self.arrivals.setdefault(spec["step"], []).append(name)

    def watch(self):
        """Notes prefix-cache hits, and those of a block whose twin, with the same content, was evicted before."""
        manager, pool = self.scheduler.kv_cache_manager, self.pool
        index, outlived = pool.cached_block_hash_to_block, set()
        find, evict = manager.get_computed_blocks, pool._maybe_evict_cached_block
        find_one = index.get_one_block

        def found(request, *args):
            answer = find(request, *args)
            self.hits[request.request_id] = answer[1]
            return answer

        def evicted(block):
            key = block.block_hash
            gone = evict(block)
            if key is not None and find_one(key):
                outlived.add(key)
            return gone

        def found_one(key):
            block = find_one(key)
            if self.twin_at is None and block is not None and key in outlived:
                self.twin_at = self.now
            return block

        manager.get_computed_blocks = found
        pool._maybe_evict_cached_block = evicted
        index.get_one_block = found_one

    def submit(self, name, step):
        spec = self.specs[name]
        params = SimpleNamespace(
            max_tokens=spec["max"],
            min_tokens=0,
            stop_token_ids=[STOP_TOKEN],
            eos_token_id=None,
            extra_args=None,
            structured_outputs=None,
            num_logprobs=None,
            logprobs=None,
            prompt_logprobs=None,
            skip_reading_prefix_cache=False,
            repetition_detection=None,
        )
        request = Request(
            request_id=name,
            prompt_token_ids=tokens_of(spec["prompt"]),
            sampling_params=params,
            pooling_params=None,
            arrival_time=float(spec["arrival"]),
            priority=spec["priority"],
            block_hasher=self.hasher if self.options["enablePrefixCaching"] else None,
        )
        request.remote_tokens = spec.get("remote", 0)
        request.is_sent = "sendSteps" in spec
        self.scheduler.add_request(request)
        self.moved[name] = step
        if spec.get("abortAfter") is not None:
            self.aborts.setdefault(step + spec["abortAfter"], []).append(name)

    def token(self, name, index):
        spec = self.specs[name]
        is_last = index == spec["out"] - 1
        return STOP_TOKEN if is_last and spec["stops"] else spec["base"] * 4096 + index

    def before(self, step):
        self.now = step
        for name in self.arrivals.pop(step, ()):
            self.submit(name, step)
        asked = [name for name in self.aborts.pop(step, ()) if name not in self.ended]
        aborted = [name for name in asked if name not in self.loading]
        for name in asked:
            if name in self.loading:
                self.aborts.setdefault(step + 1, []).append(name)
        for name in aborted:
            # One by one: one call iterates over a set, whose order changes between processes.
            self.scheduler.finish_requests([name], RequestStatus.FINISHED_ABORTED)
            self.end(name, step)

    def end(self, name, step):
        self.ended.add(name)
        for other, spec in self.specs.items():
            if spec.get("after") == int(name):
                self.arrivals.setdefault(step + 1 + spec["step"], []).append(other)

    def sample(self, output):
        """One token for each whose last known token was computed; with drafts, those accepted as well."""
        names = list(output.num_scheduled_tokens)
        sampled = []
        for name in names:
            request = self.scheduler.requests[name]
            drafts = output.scheduled_spec_decode_tokens.get(name, ())
            done = request.num_computed_tokens - len(drafts) >= request.num_tokens
            # Padding is no draft.
            real = len(drafts) if drafts and drafts[0] >= 0 else 0
            sampled.append(self.burst(name, real) if done else [])
        return names, sampled

    def burst(self, name, drafts):
        """The next token, and those of the drafts that are right."""
        request = self.scheduler.requests.get(name)
        if request is None:
            return [0]
        first = request.num_output_tokens
        draws = self.specs[name].get("accepts", (0,))
        accepted = min(drafts, draws[first % len(draws)])
        return [self.token(name, first + i) for i in range(accepted + 1)]

    def step(self, step):
        self.before(step)
        scheduler = self.scheduler
        running_before = list(scheduler.running)
        output = scheduler.schedule()
        batch = dict(output.num_scheduled_tokens)
        self.moved.update(dict.fromkeys(batch, step))
        preempted = [r.request_id for r in running_before if r not in scheduler.running]
        reserved = self.take_reserved(step)
        waiting = [r.request_id for r in scheduler.waiting if not holds_blocks(r)]
        free = self.pool.get_num_free_blocks()
        first = {r.req_id for r in output.scheduled_new_reqs}
        hits = {name: self.hits.get(name, 0) for name in batch if name in first}
        finished = self.update(output, step)
        return line_of(
            batch=[f"{int(name)}:{tokens}" for name, tokens in batch.items()],
            free=[str(free)],
            waiting=names_of(waiting),
            preempted=sorted(names_of(preempted), key=int),
            reserved=[f"{int(name)}:{tokens}" for name, tokens in reserved],
            hits=[f"{int(name)}:{hit}" for name, hit in sorted(hits.items()) if hit > 0],
            finished=sorted(names_of(finished), key=int),
        )

    def take_reserved(self, step):
        if self.connector is None:
            return []
        reserved, self.connector.reserved = self.connector.reserved, []
        for name, _ in reserved:
            self.loading.add(name)
            self.loads.setdefault(step + self.specs[name]["loadSteps"], []).append(name)
        return reserved

    def transfers_of(self, step):
        """What the connector reports with the end of this step."""
        requests = self.scheduler.requests
        arrived = [n for n in self.loads.pop(step, ()) if n in requests]
        self.loading.difference_update(arrived)
        self.moved.update(dict.fromkeys(arrived, step))
        failed = [name for name in arrived if self.specs[name].get("fails")]
        return KVConnectorOutput(
            finished_recving=set(arrived),
            # A list, so that blocks become free in the same order in each run.
            finished_sending=self.sends.pop(step, []),
            **self.failures_of(failed),
        )

    def failures_of(self, names):
        """As NIXL's connector reports failed loads: by request, and without layer groups by block too."""
        if not names:
            return {}
        failed = {"failed_recving": set(names)}
        if self.options.get("kvGroups") is not None:
            return failed
        block_ids = self.scheduler.kv_cache_manager.get_block_ids
        first = {name: self.hits[name] // self.options["blockSize"] for name in names}
        blocks = [block for name in names for block in block_ids(name)[0][first[name] :]]
        return {**failed, "invalid_block_ids": set(blocks)}

    def finished_of(self, there, step):
        """Those of these requests that have ended with this step."""
        finished = sorted(name for name, request in there.items() if request.is_finished())
        for name in finished:
            if name in self.scheduler.requests:
                self.sends.setdefault(step + self.specs[name]["sendSteps"], []).append(name)
            self.end(name, step)
        return finished

    def update(self, output, step):
        names, sampled = self.sample(output)
        there = {name: self.scheduler.requests[name] for name in names}
        answer = answer_of(names, sampled, self.transfers_of(step))
        self.scheduler.update_from_output(output, answer)
        self.draft(names, sampled)
        return self.finished_of(there, step)

    def draft(self, names, sampled):
        count = self.options.get("specTokens", 0)
        for name, tokens in zip(names, sampled):
            if count and tokens and name in self.scheduler.requests:
                self.scheduler.requests[name].spec_token_ids = [0] * count

    def waiting(self):
        """Those with blocks as well, as for KV that has come or will not. Old versions have one queue."""
        holding = getattr(self.scheduler, "kv_holding_waiting", ())
        return [r.request_id for r in [*holding, *self.scheduler.waiting]]

    def waits_since(self):
        """The step in which one that waits arrived, got its KV or ran last."""
        return min(self.moved[name] for name in self.waiting())

    def all(self):
        records, idle, stuck = [], 0, 0
        starves_from = None
        for step in range(MOST_STEPS):
            record = self.step(step)
            records.append(record)
            runs = self.seen.get("runs", not record.startswith(";"))
            idle = 0 if runs else idle + 1
            transfers = len(self.loading) + len(self.sends)
            waits = idle > 0 and len(self.waiting()) > 0 and not transfers
            stuck = stuck + 1 if waits else 0
            if starves_from is None and stuck >= STUCK_STEPS:
                starves_from = self.waits_since()
            are_over = len(self.ended) == len(self.specs) and not self.sends
            if are_over or idle > IDLE_STEPS:
                break
        return {
            "steps": records,
            "twinAt": self.twin_at,
            "starvesFrom": starves_from,
            "inFlightAt": self.in_flight_at,
        }


class AsyncRun(Run):
    """As EngineCore.step_with_batch_queue: several batches in flight, each scheduled while those before run.

    A step is as long as the batch that it ends runs; a batch without tokens takes no time.
    """

    def __init__(self, workload):
        super().__init__(workload)
        self.queue = collections.deque()
        self.places = places_of(self.options)

    def step(self, step):
        self.before(step)
        self.seen = {"preempted": [], "hits": {}, "last": {}}
        ended, emitted = [], []
        scheduler = self.scheduler
        free, waiting = None, None
        while True:
            if scheduler.has_requests():
                tokens = self.schedule()
                free = self.pool.get_num_free_blocks()
                waiting = [r.request_id for r in scheduler.waiting if not holds_blocks(r)]
                if len(self.queue) < self.places and (tokens > 0 or scheduler.has_requests()):
                    continue
            elif not self.queue:
                break
            else:
                self.seen["last"] = {}
            output, samples = self.queue.pop()
            reserved = self.take_reserved(step)
            self.seen.setdefault("reserved", []).extend(reserved)
            takes_time = output.total_num_scheduled_tokens > 0
            is_over = takes_time or not any(
                one.total_num_scheduled_tokens for one, _ in self.queue
            )
            # Transfers that end during a step are reported with the output of that step.
            transfers = self.transfers_of(step) if is_over else KVConnectorOutput()
            finished, got = self.finish(output, samples, transfers)
            ended += finished
            emitted += got
            if is_over:
                break
        if free is None:
            free = self.pool.get_num_free_blocks()
            waiting = []
        return self.line(free, waiting, ended, emitted)

    def line(self, free, waiting, ended, emitted):
        seen = self.seen
        return line_of(
            batch=[f"{int(name)}:{tokens}" for name, tokens in seen["last"].items()],
            free=[str(free)],
            waiting=names_of(waiting),
            preempted=sorted(names_of(seen["preempted"]), key=int),
            reserved=[f"{int(name)}:{tokens}" for name, tokens in seen.get("reserved", [])],
            hits=[f"{int(n)}:{hit}" for n, hit in sorted(seen["hits"].items()) if hit > 0],
            finished=sorted(names_of(ended), key=int),
            emitted=sorted(names_of(emitted), key=int),
        )

    def schedule(self):
        scheduler = self.scheduler
        running_before = list(scheduler.running)
        output = scheduler.schedule()
        self.seen["preempted"] += [
            r.request_id for r in running_before if r not in scheduler.running
        ]
        batch = dict(output.num_scheduled_tokens)
        self.moved.update(dict.fromkeys(batch, self.now))
        self.seen["last"] = batch
        for request in output.scheduled_new_reqs:
            self.seen["hits"][request.req_id] = self.hits.get(request.req_id, 0)
        drafts = output.scheduled_spec_decode_tokens
        ran = {request.request_id for request in running_before}
        # One that was admitted has padding, and no drafts.
        samples = {
            name: len(drafts.get(name, ())) if name in ran else 0
            for name in batch
            if not scheduler.requests[name].is_prefill_chunk
        }
        self.queue.appendleft((output, samples))
        return output.total_num_scheduled_tokens

    def finish(self, output, samples, transfers):
        names = list(output.num_scheduled_tokens)
        requests = self.scheduler.requests
        there = {
            name: requests[name]
            for name in names
            if name in requests and not requests[name].is_finished()
        }
        sampled = [
            self.burst(name, samples[name]) if name in samples else [] for name in names
        ]
        answer = answer_of(names, sampled, transfers)
        self.scheduler.update_from_output(output, answer)
        return self.finished_of(there, self.now), [n for n in there if n in samples]


class PipelineRun(AsyncRun):
    """A batch for each stage, and one more with the asynchronous scheduler.

    The first field has the batch that ends, without chunks of preempted requests.
    """

    def line(self, free, waiting, ended, emitted):
        seen = self.seen
        chunks = seen.get("chunks", {})
        members = [(int(name), f":{tokens}") for name, tokens in chunks.items()]
        members += [(int(name), "") for name in emitted]
        return line_of(
            batch=[f"{name}{tokens}" for name, tokens in sorted(members)],
            free=[str(free)],
            waiting=names_of(waiting),
            preempted=sorted(names_of(seen["preempted"]), key=int),
            reserved=[],
            hits=[f"{int(n)}:{hit}" for n, hit in sorted(seen["hits"].items()) if hit > 0],
            finished=sorted(names_of(ended), key=int),
        )

    def schedule(self):
        tokens = super().schedule()
        requests = self.scheduler.requests
        preempted = (requests.get(name) for name in self.seen["preempted"])
        is_flying = any(one is not None and one.num_in_flight_tokens > 0 for one in preempted)
        if self.in_flight_at is None and is_flying:
            self.in_flight_at = self.now
        return tokens

    def finish(self, output, samples, transfers):
        requests = self.scheduler.requests
        self.seen["runs"] = output.total_num_scheduled_tokens > 0
        self.seen.setdefault("chunks", {}).update(
            (name, tokens)
            for name, tokens in output.num_scheduled_tokens.items()
            if name in requests and name not in samples and not requests[name].num_preemptions
        )
        return super().finish(output, samples, transfers)


def kind_of(options):
    if options.get("stages", 1) > 1:
        return PipelineRun
    return AsyncRun if options.get("asyncScheduling") else Run


def answer_for(kind, workload):
    """Nothing for what this version of vLLM refuses to run."""
    try:
        return kind(workload).all()
    except AssertionError as error:
        if "not supported" not in str(error):
            raise
        return {"steps": [], "isRefused": True}


def main():
    kv_cache_utils.init_none_hash(sha256)
    for line in sys.stdin:
        workload = json.loads(line)
        kind = kind_of(workload["options"])
        sys.stdout.write(json.dumps(answer_for(kind, workload)) + "\n")


main()
