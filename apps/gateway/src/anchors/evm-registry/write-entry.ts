// Writes a statement to the registry on the EVM chain: noted before it is sent, resolved before another is signed.

import type { SignedTransaction } from '@svc/chains/evm/account'
import { sendOnce } from '@svc/chains/transactions'
import { PermanentError } from '@svc/queue/queue'
import type { Hex } from 'viem'
import type { RegistryEntryTable } from '../../db/schema.ts'
import type { AnchorsContext } from '../room.ts'
import type { EvmRegistry } from './client.ts'
import { RegistryRefusal } from './errors.ts'
import { changeEntry, findEntry } from './store.ts'

type Parts = Pick<AnchorsContext, 'database' | 'config'>

/** Throws where it could not be written now; the reason is recorded with the entry. */
export async function writeEntry(
  context: Parts & Pick<AnchorsContext, 'evmRegistry'>,
  receiptId: string,
): Promise<void> {
  const { evmRegistry, database } = context
  const found = await findEntry(database.db, receiptId)
  if (evmRegistry && found) await write(context, evmRegistry, found)
}

async function write(parts: Parts, registry: EvmRegistry, first: RegistryEntryTable): Promise<void> {
  const { db } = parts.database
  const { receipt_id } = first
  let entry = first
  try {
    await sendOnce<SignedTransaction, 'done'>({
      async resolve() {
        for (;;) {
          const found = await findEntry(db, receipt_id)
          if (!found || found.state === 'done') return 'done'
          entry = found
          if (entry.tx === null) return null
          await resolveEntry(parts, registry, entry)
        }
      },
      async sign() {
        const signed = await registry.prepare(receipt_id, entry)
        if (signed !== 'there_already') return signed
        await changeEntry(db, entry, { state: 'done', error: null })
        return null
      },
      note: ({ tx, raw }) => changeEntry(db, entry, { state: 'sent', tx, raw, error: null }),
      async send({ tx, raw }) {
        if ((await registry.send(raw)) === 'nonce_taken') await forgetTransaction(parts, { ...entry, tx })
      },
    })
  } catch (error) {
    if (!(error instanceof RegistryRefusal)) throw error
    // The registry has a newer statement: this one is out of date.
    const isOutdated = error.why === 'older'
    const change = isOutdated ? ({ state: 'done', error: null } as const) : { error: `${error.why}: ${error.message}` }
    await changeEntry(db, entry, change)
    if (!isOutdated) throw isPermanent(error) ? new PermanentError(error.message, { cause: error }) : error
  }
}

/** Records a transaction that has landed and forgets one that never will. Throws while it may still land. */
async function resolveEntry(parts: Parts, registry: EvmRegistry, entry: RegistryEntryTable): Promise<void> {
  const { tx, raw } = entry as { tx: Hex; raw: Hex } // noted together
  const found = await registry.watch({ tx, raw }, parts.config.anchors.waitSeconds * 1000)
  if (found.outcome === 'pending') throw new RegistryRefusal('unavailable', `transaction ${tx} is not final yet`)
  if (found.outcome === 'landed') {
    const { block, fee_wei } = found
    await changeEntry(parts.database.db, entry, { state: 'done', block, fee_wei: String(fee_wei), error: null })
    return
  }
  await forgetTransaction(parts, entry)
  if (found.outcome === 'failed') throw new RegistryRefusal(found.reason, `transaction ${tx} failed`)
}

/** Another transaction may be signed for the entry. */
async function forgetTransaction({ database }: Parts, entry: RegistryEntryTable): Promise<void> {
  await changeEntry(database.db, entry, { state: 'waiting', tx: null, raw: null })
}

/** It needs the operator. */
function isPermanent({ why }: RegistryRefusal): boolean {
  return why === 'not_owner' || why === 'not_a_registry' || why === 'refused'
}
