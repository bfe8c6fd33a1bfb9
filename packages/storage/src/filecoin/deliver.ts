// Delivers an object to the provider: computes its piece, uploads the piece, and adds it to the data set. Each step is
// stored before the next begins, so that a later run continues.

import { createHash } from 'node:crypto'
import { parse } from '@filoz/synapse-core/piece'
import { signAddPieces } from '@filoz/synapse-core/typed-data'
import { keccak256, toHex } from 'viem'
import { ProviderError } from '../provider.ts'
import type { StagedObject } from '../slow-store.ts'
import type { DataSet, FilecoinClient, RecordKeeper } from './chain.ts'
import { answerError, isRejection } from './errors.ts'
import { openPdp, type Pdp } from './pdp.ts'
import { cidOf, lengthOf, MAX_BYTES, refOf, withZeros } from './piece.ts'
import { type FilecoinTimeouts, notFinished, pollProgress } from './timeouts.ts'

export interface Filecoin {
  pdpUrl: string
  timeouts: FilecoinTimeouts
  client: FilecoinClient
  keeper: RecordKeeper
  dataSet(pdp: Pdp, signal: AbortSignal): Promise<DataSet>
  commitmentOf(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array>
}

interface Progress {
  /** The content id of the piece. */
  piece: string
  /** The upload that receives its bytes. */
  upload?: { id: string; isWhole: boolean }
  /** The request to add the piece; with the transaction, once the provider has answered. */
  commit?: Commit
}

interface Commit {
  sentAt: number
  dataSet: string
  transaction: string | null
}

/** One run with one object. */
interface Run extends Filecoin {
  object: StagedObject
  pdp: Pdp
  /** The latest progress; null only before the first record. */
  progress: Progress
  saveProgress(progress: Progress): Promise<void>
}

export async function deliver(filecoin: Filecoin, object: StagedObject): Promise<{ ref: string }> {
  if (object.size > MAX_BYTES) throw new RangeError('the object is larger than a piece may be')
  const run: Run = {
    ...filecoin,
    object,
    pdp: openPdp(filecoin.pdpUrl, filecoin.timeouts, object.signal),
    progress: object.progress as Progress, // as recorded below, or null before that
    async saveProgress(progress) {
      await object.saveProgress(progress)
      run.progress = progress
    },
  }
  try {
    // A commitment takes long, and so does an upload.
    if (!run.progress?.commit) await filecoin.keeper.requireFunds()
    if (run.progress === null) await run.saveProgress({ piece: await computePiece(filecoin, object) })
    if (!run.progress.commit) await uploadPiece(run)
    await commitPiece(run)
    return { ref: refOf({ cid: run.progress.piece, size: object.size }) }
  } finally {
    run.pdp.close()
  }
}

/** The commitment covers the confirmed bytes; otherwise this fails. */
async function computePiece({ commitmentOf }: Filecoin, object: StagedObject): Promise<string> {
  const sha256 = createHash('sha256')
  async function* hashed() {
    for await (const chunk of (await object.open()) as AsyncIterable<Buffer>) {
      object.signal.throwIfAborted()
      sha256.update(chunk)
      yield chunk
    }
  }
  const multihash = await commitmentOf(withZeros(hashed(), object))
  if (sha256.digest('hex') !== object.sha256) throw new Error('the bytes are not the staged ones')
  return cidOf(multihash)
}

/** Sends the bytes to the provider, or continues an earlier upload. Bytes that the provider has are not sent. */
async function uploadPiece(run: Run): Promise<void> {
  const { pdp, progress } = run
  const { piece, upload } = progress
  if (await pdp.hasPiece(piece)) return
  if (upload?.isWhole) return finishUpload(run, upload.id)
  // All bytes may have arrived although the answer was lost.
  if (upload && (await pdp.finishUpload(upload.id, piece)) === 200) return requirePiece(run)
  await finishUpload(run, await sendBytes(run))
}

async function sendBytes({ pdp, object, progress: { piece }, saveProgress }: Run): Promise<string> {
  const id = await pdp.beginUpload()
  await saveProgress({ piece, upload: { id, isWhole: false } })
  const bytes = await object.open()
  try {
    await pdp.send(id, withZeros(bytes, object), lengthOf(object))
  } finally {
    bytes.destroy()
  }
  await saveProgress({ piece, upload: { id, isWhole: true } })
  return id
}

async function finishUpload(run: Run, upload: string): Promise<void> {
  const { piece } = run.progress
  const status = await run.pdp.finishUpload(upload, piece)
  if (status === 200) return requirePiece(run)
  if (status === 400) {
    await run.saveProgress({ piece })
    throw new ProviderError('unavailable', "the provider's bytes differ from the sent bytes")
  }
  if (status !== 404) throw answerError('POST /pdp/piece/uploads', { status, text: '' })
  // The provider also drops an upload when it is finished, and that answer may have been lost.
  if (await waitForPiece(run)) return
  await run.saveProgress({ piece })
  throw notFinished('a piece')
}

async function requirePiece(run: Run): Promise<void> {
  if (!(await waitForPiece(run))) throw notFinished('a piece')
}

async function waitForPiece({ pdp, progress, object, timeouts }: Run): Promise<true | null> {
  return pollProgress(timeouts, object.signal, async () => (await pdp.hasPiece(progress.piece)) || null)
}

/** Adds the piece to the data set, or continues to, until the chain has it. */
async function commitPiece(run: Run): Promise<void> {
  const { object, progress, keeper, timeouts } = run
  const nonce = nonceOf(object.id)
  if (!progress.commit && (await keeper.dataSetUsing(nonce)) !== null) return
  const commit = progress.commit ?? (await sendCommit(run, nonce))
  const isDone = await pollProgress(timeouts, object.signal, () => isOnChain(run, nonce, commit))
  if (!isDone) throw notFinished('a commit')
}

/** Depends on the object alone: the contract accepts it only once, from any gateway. */
function nonceOf(id: string): bigint {
  return BigInt(keccak256(toHex(`svc object ${id}`)))
}

async function sendCommit(run: Run, nonce: bigint): Promise<Commit> {
  const { pdp, object, progress, client } = run
  const { id, clientDataSetId } = await run.dataSet(pdp, object.signal)
  const commit = { sentAt: Date.now(), dataSet: `${id}`, transaction: null }
  await run.saveProgress({ ...progress, commit })
  try {
    const pieces = [{ pieceCid: parse(progress.piece) }]
    const extraData = await signAddPieces(client, { clientDataSetId, nonce, pieces })
    const transaction = await pdp.addPiece(commit.dataSet, progress.piece, extraData)
    await run.saveProgress({ ...progress, commit: { ...commit, transaction } })
    return { ...commit, transaction }
  } catch (error) {
    if (isRejection(error)) await run.saveProgress(progress)
    throw error
  }
}

/** Null while it is pending. */
async function isOnChain(run: Run, nonce: bigint, { transaction, dataSet, sentAt }: Commit): Promise<true | null> {
  const status = transaction && (await run.pdp.transactionStatus(dataSet, transaction))
  if (status === 'pending') return null
  if ((await run.keeper.dataSetUsing(nonce)) !== null) return true
  if (status !== 'rejected' && Date.now() - sentAt < run.timeouts.lostMs) return null
  const { commit: _, ...progress } = run.progress
  await run.saveProgress(progress)
  throw new ProviderError('unavailable', `a commit is ${status ?? 'lost'}, and must be sent again`)
}
