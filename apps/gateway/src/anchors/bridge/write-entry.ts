// Writes a statement to the registry on the EVM chain: noted before it is sent, looked for after any doubt.

import { setTimeout as pause } from 'node:timers/promises'
import { PermanentError } from '@svc/queue/queue'
import type { Hex } from 'viem'
import type { RegistryEntryTable } from '../../db/schema.ts'
import type { EntryFate, EvmRegistry } from '../evm/evm-registry.ts'
import { RegistryRefusal } from '../evm/registry-refusal.ts'
import type { AnchorsContext } from '../room.ts'
import { changeEntry, findEntry } from './store.ts'

/** Throws where it could not be written now; the reason is with the entry. */
export async function writeEntry(context: AnchorsContext, receiptId: string): Promise<void> {
  const { evmRegistry, database, config } = context
  if (!evmRegistry) return
  for (;;) {
    const entry = await findEntry(database.db, receiptId)
    if (!entry || entry.state === 'done') return
    try {
      if (entry.tx === null) await send(evmRegistry, entry)
      else await settle(evmRegistry, entry, entry.tx as Hex)
    } catch (error) {
      if (!(error instanceof RegistryRefusal)) throw error
      // The registry has a newer statement: what this one says is of the past.
      const isPast = error.why === 'older'
      const change = isPast ? ({ state: 'done', error: null } as const) : { error: `${error.why}: ${error.message}` }
      await changeEntry(database.db, entry, change)
      if (isPast) return
      throw isLasting(error) ? new PermanentError(error.message, { cause: error }) : error
    }
  }

  async function send(registry: EvmRegistry, entry: RegistryEntryTable): Promise<void> {
    const signed = await registry.prepare(receiptId, entry)
    if (signed === 'there_already') {
      await changeEntry(database.db, entry, { state: 'done', error: null })
      return
    }
    const { tx, raw } = signed
    const isNoted = await changeEntry(database.db, entry, { state: 'sent', tx, raw, error: null })
    if (isNoted && (await registry.send(raw)) === 'number_taken') await forget({ ...entry, tx })
  }

  async function settle(registry: EvmRegistry, entry: RegistryEntryTable, tx: Hex): Promise<void> {
    const fate = await watch(registry, tx, entry.raw as Hex)
    if (fate.is === 'landed') {
      const { block, fee_wei } = fate
      await changeEntry(database.db, entry, { state: 'done', block, fee_wei: String(fee_wei), error: null })
    } else if (fate.is === 'never') {
      await forget(entry)
    } else if (fate.is === 'failed') {
      await forget(entry)
      throw new RegistryRefusal(fate.reason, `transaction ${tx} failed`)
    } else {
      throw new RegistryRefusal('unavailable', `transaction ${tx} is not final yet`)
    }
  }

  /** Its place is free for another transaction. */
  async function forget(entry: RegistryEntryTable): Promise<void> {
    await changeEntry(database.db, entry, { state: 'waiting', tx: null, raw: null })
  }

  async function watch(registry: EvmRegistry, tx: Hex, raw: Hex): Promise<EntryFate> {
    const end = performance.now() + config.anchors.waitSeconds * 1000
    for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(2 * ms, LONGEST_PAUSE_MS)) {
      const fate = await registry.fate(tx, raw)
      if (fate.is !== 'may_come' || performance.now() >= end) return fate
      await pause(ms)
      if (ms === LONGEST_PAUSE_MS) await registry.send(raw)
    }
  }
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1600

/** The operator has to do something. */
function isLasting({ why }: RegistryRefusal): boolean {
  return why === 'not_owner' || why === 'not_a_registry' || why === 'refused'
}
