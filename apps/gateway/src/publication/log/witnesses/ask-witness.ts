// Asks one witness to cosign a checkpoint (C2SP tlog-witness). The witness is configured but not trusted: the size of
// its answer is limited, and the answer counts only with a signature by its key.

import { toBase64 } from '@svc/protocol/bytes'
import { readAtMost, TooManyBytes } from '@svc/protocol/read-at-most'
import { type Checkpoint, cosignaturesOf } from '@svc/protocol/transparency/checkpoint'
import { formatSignature, readSignatures, signaturesOf } from '@svc/protocol/transparency/note'
import type { PolicyWitness } from '@svc/protocol/transparency/policy'
import type { Hash } from '@svc/protocol/transparency/tree'

export type AskableWitness = PolicyWitness & { url: string }

export type WitnessAnswer =
  /** `line`: the signature as a line of a signed note; `time`: Unix seconds. */
  | { outcome: 'cosigned'; line: string; time: number }
  /** The witness has cosigned a larger log, with `size` entries. */
  | { outcome: 'ahead'; size: number }
  | { outcome: 'failed'; why: string }

interface Question {
  checkpoint: Checkpoint
  /** The signed text of the checkpoint. */
  note: string
  /** The size that the witness has probably cosigned last. */
  knownSize: number
  prove: (earlier: number) => Promise<Hash[]>
  signal: AbortSignal
}

/**
 * The first guess, the size that the witness names, and one more because another process may have asked it in between.
 */
const MAX_ATTEMPTS = 3
const MAX_ANSWER_BYTES = 16_384
const SIZE = /^(?:0|[1-9]\d{0,15})\n$/

export async function askWitness(witness: AskableWitness, question: Question): Promise<WitnessAnswer> {
  try {
    return await ask(witness, question)
  } catch (error) {
    return failed(question.signal.aborted ? 'it does not answer in time' : reasonOf(error))
  }
}

async function ask(witness: AskableWitness, { checkpoint, note, knownSize, prove, signal }: Question) {
  let old = Math.min(knownSize, checkpoint.size)
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const lines = (await prove(old)).map((hash) => `${toBase64(hash)}\n`)
    const { status, text } = await post(witness.url, `old ${old}\n${lines.join('')}\n${note}`, signal)
    if (status === 200) return cosignatureIn(text, witness, checkpoint)
    if (status !== 409) return failed(`it answers ${status}`)
    const size = SIZE.test(text) ? Number(text) : null
    if (size === null || !Number.isSafeInteger(size)) return failed('it answers 409 without a size')
    if (size > checkpoint.size) return { outcome: 'ahead', size } as const
    if (size === old) return failed('it has cosigned another tree of the same size')
    old = size
  }
  return failed('the size that it has cosigned keeps changing')
}

function cosignatureIn(text: string, { key }: AskableWitness, checkpoint: Checkpoint): WitnessAnswer {
  const signatures = readSignatures(text)
  if (typeof signatures === 'string') return failed(`its answer is malformed: ${signatures}`)
  for (const signature of signaturesOf({ signatures }, key)) {
    const note = { text: checkpoint.note.text, signatures: [signature] }
    const [found] = cosignaturesOf({ ...checkpoint, note }, [key])
    if (found) return { outcome: 'cosigned', line: formatSignature(signature), time: found.time }
  }
  return failed('its answer has no signature by its key')
}

async function post(url: string, body: string, signal: AbortSignal): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url.replace(/\/$/, '')}/add-checkpoint`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body,
    signal,
    redirect: 'manual',
  })
  const bytes = await readAtMost(MAX_ANSWER_BYTES, response.body ?? [])
  return { status: response.status, text: Buffer.from(bytes).toString() }
}

function failed(why: string): WitnessAnswer & { outcome: 'failed' } {
  return { outcome: 'failed', why }
}

/** `fetch` hides the reason in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof TooManyBytes) return 'its answer is too long'
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message
}
