import { parse } from '@filoz/synapse-core/piece'
import { signAddPieces } from '@filoz/synapse-core/typed-data'
import { keccak256, toHex } from 'viem'
import { ProviderError } from '../provider.ts'
import type { Notes } from './notes.ts'
import { until } from './patience.ts'
import { Refusal } from './errors.ts'
import type { Run } from './run.ts'

/** Adds the piece to the data set, or goes on with it, until the chain has it. */
export async function commitPiece(run: Run): Promise<void> {
  const { object, notes, keeper, patience } = run
  const nonce = nonceOf(object.id)
  if (!notes.commit && (await keeper.dataSetUsing(nonce)) !== null) return
  const commit = notes.commit ?? (await send(run, nonce))
  await until(patience, object.signal, 'a commit', () => look(run, nonce, commit))
}

/** Of the object alone: the contract takes it once only, whoever sends it again. */
function nonceOf(id: string): bigint {
  return BigInt(keccak256(toHex(`svc object ${id}`)))
}

async function send(run: Run, nonce: bigint): Promise<NonNullable<Notes['commit']>> {
  const { pdp, object, notes, client } = run
  const { id, clientDataSetId } = await run.dataSet(pdp, object.signal)
  const commit = { sentAt: Date.now(), dataSet: `${id}`, transaction: null }
  await run.note({ ...notes, commit })
  try {
    const extraData = await signAddPieces(client, {
      clientDataSetId,
      nonce,
      pieces: [{ pieceCid: parse(notes.piece) }],
    })
    const transaction = await pdp.addPiece(commit.dataSet, notes.piece, extraData)
    await run.note({ ...notes, commit: { ...commit, transaction } })
    return { ...commit, transaction }
  } catch (error) {
    if (error instanceof Refusal) await run.note(notes)
    throw error
  }
}

async function look(
  run: Run,
  nonce: bigint,
  { transaction, dataSet, sentAt }: NonNullable<Notes['commit']>,
): Promise<true | null> {
  const status = transaction && (await run.pdp.transactionStatus(dataSet, transaction))
  if (status === 'pending') return null
  if ((await run.keeper.dataSetUsing(nonce)) !== null) return true
  if (status !== 'rejected' && Date.now() - sentAt < run.patience.lostMs) return null
  const { commit: _, ...notes } = run.notes
  await run.note(notes)
  throw new ProviderError('unavailable', new Error(`a commit is ${status ?? 'lost'}, and has to be sent anew`))
}
