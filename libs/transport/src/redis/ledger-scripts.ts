import { MAX_LOST_RUNS } from '../limits';
import type { Script } from './scripts/script';

/*
 * The record of a request is one hash:
 *
 *   state        live | aborted | finished
 *   submission   newest submission seen
 *   run          runs begun, of all stages and submissions; with the submission it makes the epoch
 *   epoch        of the newest run: submission * 1024 + run (contract's packEpoch)
 *   stage        the stage that may begin runs; after a resubmission `anyStage` is set, and the
 *                first to begin decides
 *   runs:STAGE   runs begun of one stage, over all submissions, without those that do not count
 *   lost         runs without an end: their process was lost
 *   excused      epoch of the run that replaces a lost one
 *   engine, api  who runs it, who awaits it
 *   handOver     JSON of the hand-over record, and handOverEpoch, the prefill run that wrote it
 *   run:EPOCH    stage of a run that counts and has neither failed nor handed over; `lost` when a
 *                further run of the stage has begun since
 *   returned     epoch of the decode run that sent the request back to prefill, until that
 *                prefill begins
 *   gone         set when a run was refused because the API seemed dead
 *   result       JSON of the result
 *
 * A key of another type counts as an aborted record where runs begin and where requests are looked
 * up, so that its request ends, and with it no other one.
 */

const EPOCH_OF = `
local function epochOf(submission, run) return submission * 1024 + run end
`;

/**
 * KEYS: record, API presence. ARGV: submission, stage, engine, api, maxRuns, live TTL, tombstone
 * TTL, result when exhausted.
 */
export const BEGIN: Script = {
  name: 'begin',
  body: `${EPOCH_OF}
local record, submission, stage, maxRuns = KEYS[1], tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[5])
local f = redis.pcall('HMGET', record, 'state', 'submission', 'stage', 'epoch',
  'handOver', 'handOverEpoch', 'anyStage', 'returned', 'gone', 'run', 'runs:' .. stage, 'lost')
if f.err then return {'drop', 'aborted'} end
local state, known = f[1], tonumber(f[2])
if state == 'aborted' or state == 'finished' then return {'drop', state} end
if known and submission < known then
  if f[8] then return {'drop', 'returned', known} end
  return {'drop', 'superseded'}
end
local isFresh = not known or submission > known or f[7]
if not isFresh and f[3] ~= stage then
  if f[5] and f[6] == f[4] then return {'drop', 'handed-over', f[5]} end
  return {'drop', 'moved-on'}
end
if redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('HSET', record, 'gone', '1', 'api', ARGV[4])
  if not known then
    redis.call('HSET', record, 'state', 'live', 'submission', submission, 'stage', stage,
      'epoch', epochOf(submission, 0), 'anyStage', '1')
    redis.call('PEXPIRE', record, ARGV[7])
  end
  return {'drop', 'not-awaited'}
end
local run, runs = (f[10] or 0) + 1, (f[11] or 0) + 1
local epoch, lost = epochOf(submission, run), tonumber(f[12] or 0)
local former = 'run:' .. (f[4] or '')
if not isFresh and redis.call('HGET', record, former) == stage then
  lost, runs = lost + 1, runs - 1
  redis.call('HSET', record, former, 'lost', 'lost', lost, 'excused', epoch)
end
local isExhausted = runs > maxRuns or lost >= ${MAX_LOST_RUNS} or run > 1023
redis.call('HSET', record, 'submission', submission, 'epoch', epoch, 'stage', stage,
  'engine', ARGV[3], 'api', ARGV[4], 'run:' .. epoch, stage, 'run', run, 'runs:' .. stage, runs,
  'state', isExhausted and 'finished' or 'live')
if f[7] or f[8] or f[9] then redis.call('HDEL', record, 'anyStage', 'returned', 'gone') end
if f[5] and (isFresh or isExhausted) then
  redis.call('HDEL', record, 'handOver', 'handOverEpoch')
end
redis.call('PEXPIRE', record, isExhausted and ARGV[7] or ARGV[6])
if isExhausted then
  redis.call('HSET', record, 'result', ARGV[8])
  return {'exhausted', epoch}
end
return {'run', epoch, not isFresh and f[5] or false}
`,
};

/** KEYS: record. ARGV: epoch, hand-over JSON, live TTL. */
export const HAND_OVER: Script = {
  name: 'handOver',
  body: `
local f = redis.call('HMGET', KEYS[1], 'state', 'stage', 'epoch', 'handOverEpoch')
if f[1] ~= 'live' or f[3] ~= ARGV[1] then return 0 end
if f[2] == 'decode' and f[4] == ARGV[1] then return 1 end
if f[2] ~= 'prefill' then return 0 end
redis.call('HSET', KEYS[1], 'stage', 'decode', 'handOver', ARGV[2], 'handOverEpoch', ARGV[1])
redis.call('HDEL', KEYS[1], 'run:' .. ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`,
};

/**
 * KEYS: record. ARGV: epoch, live TTL, `source-lost` when that is the reason. Answers the new
 * submission, or 0. When a process was lost, neither this run nor the prefill run counts.
 */
export const RETURN_TO_PREFILL: Script = {
  name: 'returnToPrefill',
  body: `${EPOCH_OF}
local f = redis.call('HMGET', KEYS[1], 'state', 'stage', 'epoch', 'submission', 'run', 'returned',
  'excused')
if f[1] ~= 'live' then return 0 end
if f[6] == ARGV[1] then return tonumber(f[4]) end
if f[2] ~= 'decode' or f[3] ~= ARGV[1] then return 0 end
local submission = f[4] + 1
redis.call('HSET', KEYS[1], 'submission', submission, 'stage', 'prefill',
  'epoch', epochOf(submission, f[5]), 'returned', ARGV[1])
redis.call('HDEL', KEYS[1], 'handOver', 'handOverEpoch')
local isSourceLost = ARGV[3] == 'source-lost'
if isSourceLost then redis.call('HINCRBY', KEYS[1], 'lost', 1) end
if (isSourceLost or f[7] == ARGV[1]) and redis.call('HDEL', KEYS[1], 'run:' .. ARGV[1]) == 1 then
  redis.call('HINCRBY', KEYS[1], 'runs:decode', -1)
  redis.call('HINCRBY', KEYS[1], 'runs:prefill', -1)
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return submission
`,
};

/** KEYS: record. ARGV: epoch. */
export const WITHDRAW: Script = {
  name: 'withdraw',
  body: `
local f = redis.call('HMGET', KEYS[1], 'state', 'run:' .. ARGV[1])
if f[1] ~= 'live' or not f[2] then return 0 end
redis.call('HINCRBY', KEYS[1], f[2] == 'lost' and 'lost' or 'runs:' .. f[2], -1)
redis.call('HDEL', KEYS[1], 'run:' .. ARGV[1])
return 1
`,
};

/** KEYS: record. ARGV: epoch. */
export const FAIL_RUN: Script = {
  name: 'failRun',
  body: `
local f = redis.call('HMGET', KEYS[1], 'state', 'run:' .. ARGV[1])
if f[1] ~= 'live' or not f[2] or f[2] == 'lost' then return 0 end
return redis.call('HDEL', KEYS[1], 'run:' .. ARGV[1])
`,
};

/** KEYS: record. ARGV: epoch, result JSON, tombstone TTL. */
export const FINISH: Script = {
  name: 'finish',
  body: `
local f = redis.call('HMGET', KEYS[1], 'state', 'epoch')
if f[1] ~= 'live' or f[2] ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'state', 'finished', 'result', ARGV[2])
redis.call('HDEL', KEYS[1], 'handOver', 'handOverEpoch')
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`,
};

/** KEYS: records. ARGV: tombstone TTL. */
export const ABORT: Script = {
  name: 'abort',
  body: `
for _, record in ipairs(KEYS) do
  if redis.call('HGET', record, 'state') ~= 'finished' then
    redis.call('HSET', record, 'state', 'aborted')
    redis.call('HDEL', record, 'handOver', 'handOverEpoch')
    redis.call('PEXPIRE', record, ARGV[1])
  end
end
return 0
`,
};

/** KEYS: record. ARGV: prefix of API presence keys, tombstone TTL. */
export const ABANDON_REQUEST: Script = {
  name: 'abandonRequest',
  body: `
local f = redis.call('HMGET', KEYS[1], 'state', 'api')
if f[1] ~= 'live' or not f[2] or redis.call('EXISTS', ARGV[1] .. f[2]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'gone', '1')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`,
};

/** KEYS: record. ARGV: submission, live TTL, api. */
export const RESUBMIT: Script = {
  name: 'resubmit',
  body: `${EPOCH_OF}
local submission = tonumber(ARGV[1])
local f = redis.call('HMGET', KEYS[1], 'state', 'submission', 'run')
if f[1] == 'aborted' or f[1] == 'finished' then return 0 end
if f[2] and submission <= tonumber(f[2]) then return 0 end
redis.call('HSET', KEYS[1], 'state', 'live', 'submission', submission,
  'epoch', epochOf(submission, f[3] or 0), 'anyStage', '1', 'api', ARGV[3])
redis.call('HSETNX', KEYS[1], 'stage', 'prefill')
redis.call('HDEL', KEYS[1], 'handOver', 'handOverEpoch', 'returned', 'gone', 'engine')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`,
};

/**
 * KEYS: records. ARGV: prefix of API presence keys, live TTL. Answers one list (or nil) per record,
 * and renews the TTL of live records.
 */
export const INSPECT: Script = {
  name: 'inspect',
  body: `
local views = {}
for i, record in ipairs(KEYS) do
  local f = redis.pcall('HMGET', record, 'state', 'stage', 'epoch', 'engine', 'gone', 'result',
    'api', 'handOverEpoch', 'returned', 'anyStage')
  if f.err then
    views[i] = {'aborted', false, '0', false, false, false, 0, 0}
  elseif f[1] then
    f[8] = f[1] == 'live' and (f[8] == f[3] or f[9] or f[10]) and 1 or 0
    f[7] = f[7] and redis.call('EXISTS', ARGV[1] .. f[7]) or 0
    if f[1] == 'live' and not f[5] then redis.call('PEXPIRE', record, ARGV[2]) end
    views[i] = f
  else
    views[i] = false
  end
end
return views
`,
};
