// Publishes checkpoints of the log on chain: one transaction covers every statement up to there. The promises are those of
// statements: simulated, signed and noted before it is sent; resolved by its signature before another is signed; one at a
// time over all replicas, by a unique index (T-105).

import type { SolanaNodes } from '@svc/payments/solana/nodes'
import { outcomesOf, type SolanaOutcome, watchTransaction } from '@svc/payments/solana/outcome'
import type { SignedTransaction } from '@svc/payments/solana/sign-transaction'
import { sendOnce } from '@svc/payments/transactions'
import { fromHex } from '@svc/protocol/bytes'
import { logAnchorMemo, logAnchorPayload } from '@svc/protocol/transparency/anchor'
import { checkBudget, giveBack, spend } from '../../budgets/budgets.ts'
import { type Context, unixNow } from '../../context.ts'
import { anchorKey } from '../../continuity/documents.ts'
import type { LogAnchorTable, LogCheckpointTable } from '../../db/schema.ts'
import { memoInstruction } from '../memo.ts'
import type { Publisher } from '../publisher.ts'
import { lostTransaction } from '../record-outcome.ts'
import { dueCheckpoint } from './due-checkpoint.ts'
import { changeLogAnchor, deleteLogAnchor, insertLogAnchor, logAnchorsIn, newestLogAnchor } from './store.ts'

/** `waiting`: for the chain or for a budget. */
type Result = 'anchored' | 'waiting'

/** The interval alone says how often; the daily budget of the publication key holds for checkpoints, too. */
const BUDGET = { budget: 'publication', limits: [{ who: 'log', count: 0, seconds: 86_400 }] } as const
const AT_ONCE = 256

export async function anchorLog(context: Context): Promise<void> {
  const { publisher, database, logIdentity, publishedLog } = context
  if (!publisher) return
  await watchLanded(context, publisher)
  const [open] = await logAnchorsIn(database.db, 'sent', 1)
  const due = open ? null : await dueCheckpoint(context, (await publishedLog.newest())?.size ?? 0)
  if (open || due) await publish(context, publisher, logIdentity.key.name, due)
}

/** With null, only what was sent before is resolved. */
async function publish(
  context: Context,
  publisher: Publisher,
  origin: string,
  due: LogCheckpointTable | null,
): Promise<Result> {
  const { database, config } = context
  const { db, commit } = database
  let isOverBudget = false
  return sendOnce<SignedTransaction, Result>({
    async resolve(round) {
      const [sent] = await logAnchorsIn(db, 'sent', 1)
      if (!sent) return due && !isOverBudget && round === 0 ? null : 'waiting'
      // The process that noted it may have stopped before sending it.
      if (round === 0) {
        const noted = [
          { kind: 'checkpoint', key: `${sent.size}` } as const,
          { kind: 'log_anchor', key: anchorKey(sent.tx, 'sent') } as const,
        ]
        await context.continuity.requireWritten(...noted)
        await publisher.nodes.send(sent.raw)
      }
      const found = await watchTransaction(publisher.nodes, sent, config.anchors.waitSeconds * 1000)
      return (await recordLogAnchor(context, publisher.nodes, sent, found)) ? 'anchored' : 'waiting'
    },
    async sign() {
      isOverBudget = (await checkBudget(db, context, BUDGET)) !== null
      if (isOverBudget) return null
      const memo = logAnchorMemo(payloadOf(origin, due!))
      try {
        return await publisher.prepare([memoInstruction(memo, config.anchors.memoProgram, publisher.signer)])
      } catch (error) {
        // Another process was first: the simulation may have failed for that very reason.
        if (((await newestLogAnchor(db))?.size ?? 0) >= due!.size) return null
        throw error
      }
    },
    note: (signed) =>
      commit(async (tx, note) => {
        if (!(await insertLogAnchor(tx, draft(context, publisher, origin, due!, signed)))) return false
        isOverBudget = (await spend(tx, context, { ...BUDGET, tx: signed.tx, amount: publisher.maxFee })) !== null
        if (isOverBudget) await deleteLogAnchor(tx, signed.tx)
        else note({ kind: 'log_anchor', key: anchorKey(signed.tx, 'sent') })
        return !isOverBudget
      }),
    send: ({ raw }) => publisher.nodes.send(raw),
  })
}

function payloadOf(origin: string, { size, root }: LogCheckpointTable) {
  return logAnchorPayload({ origin, size, root: fromHex(root, 32) as Uint8Array }) // as it was recorded
}

function draft(
  context: Context,
  { signer }: Publisher,
  origin: string,
  checkpoint: LogCheckpointTable,
  signed: SignedTransaction,
): LogAnchorTable {
  return {
    ...signed,
    size: checkpoint.size,
    payload: JSON.stringify(payloadOf(origin, checkpoint)),
    signer,
    state: 'sent',
    slot: null,
    block_time: null,
    fee_lamports: null,
    sent_at: unixNow(context),
  }
}

/** Whether the checkpoint is on chain now. What is lost is published by the next run, which signs anew. */
export async function recordLogAnchor(
  context: Pick<Context, 'database' | 'log'>,
  nodes: Pick<SolanaNodes, 'costs'>,
  anchor: LogAnchorTable,
  found: SolanaOutcome,
): Promise<boolean> {
  const { commit } = context.database
  if (found.outcome === 'pending') return false
  const costs = found.outcome === 'expired' ? null : await nodes.costs(anchor.tx).catch(() => null)
  if (found.outcome === 'landed') {
    if (!costs) return false
    const state = found.commitment === 'finalized' ? 'finalized' : 'landed'
    const { slot, blockTime: block_time, feeLamports: fee_lamports } = costs
    return commit(async (tx, note) => {
      const isFirst = await changeLogAnchor(tx, anchor, { state, slot, block_time, fee_lamports })
      if (isFirst) note({ kind: 'log_anchor', key: anchorKey(anchor.tx, state) })
      return isFirst
    })
  }
  const fee_lamports = costs?.feeLamports ?? null
  await commit(async (tx, note) => {
    if (!(await changeLogAnchor(tx, anchor, { state: found.outcome, fee_lamports }))) return
    note({ kind: 'log_anchor', key: anchorKey(anchor.tx, found.outcome) })
    if (found.outcome === 'expired') await giveBack(tx, anchor.tx)
  })
  context.log.warn({ err: lostTransaction(anchor, found) }, 'a checkpoint of the log was not published')
  return false
}

/** Until they are final; the chain may drop a confirmed block. */
async function watchLanded(context: Context, publisher: Publisher): Promise<void> {
  const landed = await logAnchorsIn(context.database.db, 'landed', AT_ONCE)
  const outcomes = await outcomesOf(publisher.nodes, landed)
  for (const [i, anchor] of landed.entries()) {
    const found = outcomes[i]
    const isChanged = found && !(found.outcome === 'landed' && found.commitment === 'confirmed')
    if (isChanged) await recordLogAnchor(context, publisher.nodes, anchor, found)
  }
}
