// Publishes checkpoints of the log on chain: one transaction covers every statement up to the checkpoint. A unique
// index allows one open transaction over all replicas (T-19).

import { outcomesOf, type SolanaOutcome, watchTransaction } from '@svc/payments/solana/outcome'
import type { SignedTransaction } from '@svc/payments/solana/sign-transaction'
import { fromHex } from '@svc/protocol/bytes'
import { logAnchorMemo, logAnchorPayload } from '@svc/protocol/transparency/anchor'
import { releaseSpending } from '../../budgets/budgets.ts'
import { type Context, unixNow } from '../../context.ts'
import type { DocumentId } from '../../continuity/document-id.ts'
import { anchorKey } from '../../continuity/documents.ts'
import type { LogAnchorTable, LogCheckpointTable } from '../../db/schema.ts'
import type { NotPublished } from '../errors.ts'
import { memoInstruction } from '../memo.ts'
import type { PrimaryChain } from '../primary-chain.ts'
import { type Attempt, type Publisher, publish } from '../publisher.ts'
import { lostTransaction, outcomeUnknown } from '../record-outcome.ts'
import { dueCheckpoint } from './due-checkpoint.ts'
import { changeLogAnchor, deleteLogAnchor, insertLogAnchor, logAnchorsIn, newestLogAnchor } from './store.ts'

const AT_ONCE = 256

export const LOG_ANCHORS: Publisher<LogAnchorTable, SolanaOutcome> = {
  job: 'anchor-log',
  seconds: 15,
  isOn: ({ primaryChain, config }) => primaryChain !== null && config.anchors.logSeconds > 0,
  open: ({ database }) => logAnchorsIn(database.db, 'sent', 1),
  landed: ({ database }) => logAnchorsIn(database.db, 'landed', AT_ONCE),
  outcomes: ({ primaryChain }, sent) => outcomesOf(primaryChain!.nodes, sent),
  documentsOf: async (_db, { tx, size }) => [
    { kind: 'checkpoint', key: `${size}` },
    { kind: 'log_anchor', key: anchorKey(tx, 'sent') },
  ],
  send: ({ primaryChain }, { raw }) => primaryChain!.nodes.send(raw),
  waitFor: ({ primaryChain, config }, sent) =>
    watchTransaction(primaryChain!.nodes, sent, config.anchors.waitSeconds * 1000),
  record: recordLogAnchor,
  publishDue: anchorDue,
}

/** The next run signs a new transaction for what was lost. */
async function anchorDue(context: Context, open: readonly LogAnchorTable[]): Promise<void> {
  const { primaryChain, publishedLog } = context
  if (!primaryChain || open.length > 0) return
  const due = await dueCheckpoint(context, (await publishedLog.newest())?.size ?? 0)
  if (due) await publish(context, LOG_ANCHORS, attemptOf(context, primaryChain, due))
}

/** Only the interval limits the frequency; the daily budget of the publication key covers checkpoints, too. */
const ACCOUNT = { budget: 'publication', limits: [{ who: 'log', count: 0, seconds: 86_400 }] } as const

function attemptOf(
  context: Context,
  primaryChain: PrimaryChain,
  due: LogCheckpointTable,
): Attempt<SignedTransaction, LogAnchorTable, 'done'> {
  const { database, config, logIdentity } = context
  const { nodes, signer, maxFee } = primaryChain
  const { size } = due
  const root = fromHex(due.root, 32) as Uint8Array // recorded as hex
  const payload = logAnchorPayload({ origin: logIdentity.key.name, size, root })
  const rowOf = (signed: SignedTransaction): LogAnchorTable => ({
    ...signed,
    size,
    payload: JSON.stringify(payload),
    signer,
    state: 'sent',
    slot: null,
    block_time: null,
    fee_lamports: null,
    sent_at: unixNow(context),
  })
  return {
    account: ACCOUNT,
    findSent: async () => (await logAnchorsIn(database.db, 'sent', 1))[0] ?? null,
    result: async ({ sent, round }) => (sent || round > 0 ? 'done' : null),
    async sign() {
      try {
        return await primaryChain.prepare([memoInstruction(logAnchorMemo(payload), config.anchors.memoProgram, signer)])
      } catch (error) {
        // Another process was first, which may be why the simulation failed.
        if (((await newestLogAnchor(database.db))?.size ?? 0) >= size) return null
        throw error
      }
    },
    insert: (tx, signed) => insertLogAnchor(tx, rowOf(signed)),
    costs: ({ tx }) => [{ ...ACCOUNT, tx, amount: maxFee }],
    recorded: async (_tx, { tx }, recordDocuments) =>
      recordDocuments({ kind: 'log_anchor', key: anchorKey(tx, 'sent') }),
    remove: (tx, signed) => deleteLogAnchor(tx, signed.tx),
    /** The next run tries again. */
    defer: async () => 'done',
    send: ({ raw }) => nodes.send(raw),
  }
}

/** The next run signs a new transaction for what was lost. */
export async function recordLogAnchor(
  { database: { commit }, log, primaryChain }: Pick<Context, 'database' | 'log' | 'primaryChain'>,
  anchor: LogAnchorTable,
  found: SolanaOutcome,
): Promise<NotPublished | null> {
  if (found.outcome === 'pending') return outcomeUnknown(anchor)
  if (found.outcome === 'landed' && found.commitment === 'confirmed' && anchor.state === 'landed') return null
  const costs = found.outcome === 'expired' ? null : await primaryChain!.nodes.costs(anchor.tx).catch(() => null)
  const documentOf = (state: LogAnchorTable['state']): DocumentId => ({
    kind: 'log_anchor',
    key: anchorKey(anchor.tx, state),
  })
  if (found.outcome === 'landed') {
    if (!costs) return outcomeUnknown(anchor)
    const state = found.commitment === 'finalized' ? 'finalized' : 'landed'
    const { slot, blockTime: block_time, feeLamports: fee_lamports } = costs
    await commit(async (tx, recordDocuments) => {
      if (await changeLogAnchor(tx, anchor, { state, slot, block_time, fee_lamports }))
        recordDocuments(documentOf(state))
    })
    return null
  }
  const fee_lamports = costs?.feeLamports ?? null
  await commit(async (tx, recordDocuments) => {
    if (!(await changeLogAnchor(tx, anchor, { state: found.outcome, fee_lamports }))) return
    recordDocuments(documentOf(found.outcome))
    if (found.outcome === 'expired') await releaseSpending(tx, anchor.tx)
  })
  const problem = lostTransaction(anchor, found)
  log.warn({ err: problem }, 'a checkpoint of the log was not published')
  return problem
}
