// The witnesses of the policy: all are asked at the same time to cosign a checkpoint. An unavailable witness does no
// harm: the checkpoint is published without it, and the witness is asked again.

import { type Checkpoint, cosignaturesOf, readCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { formatKey } from '@svc/protocol/transparency/note'
import { judge, type Policy } from '@svc/protocol/transparency/policy'
import { proveConsistency, type ReadTile } from '@svc/protocol/transparency/prove'
import { type Context, unixNow } from '../../../context.ts'
import type { LogCheckpointTable } from '../../../db/schema.ts'
import { findCosigned } from '../store.ts'
import { type AskableWitness, askWitness, type WitnessAnswer } from './ask-witness.ts'
import { addCosignature, findWitnesses, recordCosigned, recordFailing } from './store.ts'

export interface Witnesses {
  /** Whether a witness should be asked about the checkpoint now. */
  areDue(checkpoint: LogCheckpointTable): Promise<boolean>
  /**
   * Asks the witnesses that are due. Resolves when all have answered, or after two seconds; later answers are recorded,
   * too.
   */
  ask(checkpoint: LogCheckpointTable): Promise<void>
  /** The checkpoint with all known cosignatures, for publishing. */
  cosigned(checkpoint: LogCheckpointTable): Promise<string>
  /** Cancels running requests. */
  stop(): Promise<void>
}

interface Parts extends Pick<Context, 'log' | 'now' | 'database'> {
  policy: Policy | null
  /** Reads tiles of the cosigned tree, published or not. */
  readTile: ReadTile
}

/** How long a checkpoint waits for cosignatures before it is published. */
const PUBLISH_AFTER_MS = 2000
const REQUEST_TIMEOUT_MS = 10_000
/** A witness that failed is not asked again for this long. */
const PAUSE_MS = 30_000

export function createWitnesses({ log, now, database: { db, commit }, policy, readTile }: Parts): Witnesses {
  const all = (policy?.witnesses ?? []).filter((witness): witness is AskableWitness => witness.url !== null)
  const running = new Map<AskableWitness, Promise<void>>()
  const pausedUntil = new Map<AskableWitness, number>()
  const problems = new Map<AskableWitness, string>()
  const stopping = new AbortController()
  /** The size that each has cosigned last. One shared map, because witnesses are asked at the same time. */
  let loading: Promise<Map<string, number>> | null = null

  function knownSizes(): Promise<Map<string, number>> {
    loading ??= findWitnesses(db)
      .then((rows) => new Map(rows.map(({ witness, size }) => [witness, size])))
      .catch((error) => {
        loading = null
        throw error
      })
    return loading
  }

  const cosigned = (recorded: LogCheckpointTable) => findCosigned(db, recorded)

  async function due(recorded: LogCheckpointTable): Promise<AskableWitness[]> {
    const ready = all.filter((witness) => !running.has(witness) && (pausedUntil.get(witness) ?? 0) <= performance.now())
    if (ready.length === 0 || stopping.signal.aborted) return []
    const checkpoint = asRead(await cosigned(recorded))
    const keys = ready.map(({ key }) => key)
    const vouching = new Set(cosignaturesOf(checkpoint, keys).map(({ key }) => key))
    return ready.filter(({ key }) => !vouching.has(key))
  }

  async function askOne(witness: AskableWitness, recorded: LogCheckpointTable): Promise<void> {
    const { size, note } = recorded
    const name = formatKey(witness.key)
    const sizes = await knownSizes()
    const answer = await askWitness(witness, {
      checkpoint: asRead(note),
      note,
      knownSize: sizes.get(name) ?? 0,
      prove: (earlier) => proveConsistency(earlier, size, readTile),
      signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
    })
    if (stopping.signal.aborted) return
    if (answer.outcome !== 'cosigned') return recordProblem(witness, problemOf(answer))
    sizes.set(name, size)
    problems.delete(witness)
    const isQuorum = (lines: string) => judge(policy!, asRead(note + lines)).isQuorum
    await commit(async (tx) => {
      await addCosignature(tx, size, answer.line, isQuorum)
      await recordCosigned(tx, name, { size, cosigned_at: answer.time })
    })
  }

  async function recordProblem(witness: AskableWitness, problem: string): Promise<void> {
    pausedUntil.set(witness, performance.now() + PAUSE_MS)
    if (problems.get(witness) !== problem)
      log.warn({ witness: witness.name, problem }, 'a witness has not cosigned a checkpoint of the log')
    problems.set(witness, problem)
    await commit((tx) => recordFailing(tx, formatKey(witness.key), problem, unixNow({ now })))
  }

  function begin(witness: AskableWitness, recorded: LogCheckpointTable): Promise<void> {
    const asked = askOne(witness, recorded)
      .catch((error) => log.warn({ err: error, witness: witness.name }, 'a cosignature could not be recorded'))
      .finally(() => running.delete(witness))
    running.set(witness, asked)
    return asked
  }

  return {
    cosigned,
    areDue: async (recorded) => (await due(recorded)).length > 0,
    async ask(recorded) {
      const asked = (await due(recorded)).map((witness) => begin(witness, recorded))
      if (asked.length === 0) return
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, PUBLISH_AFTER_MS)
      await Promise.race([Promise.all(asked), late.promise])
      clearTimeout(timer)
    },
    async stop() {
      stopping.abort()
      await Promise.all(running.values())
    },
  }
}

function problemOf(answer: Exclude<WitnessAnswer, { outcome: 'cosigned' }>): string {
  return answer.outcome === 'failed' ? answer.why : `it has cosigned a larger log, with ${answer.size} entries`
}

function asRead(note: string): Checkpoint {
  const checkpoint = readCheckpoint(note)
  if (typeof checkpoint === 'string') throw new Error(`a recorded checkpoint cannot be read: ${checkpoint}`)
  return checkpoint
}
