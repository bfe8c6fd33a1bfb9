// The identity of the log. Origin and key are in the database from the start, and fixed from the first checkpoint on.

import { fromHex, toHex } from '@svc/protocol/bytes'
import { type Ed25519Signer, ed25519Signer } from '@svc/protocol/keys'
import type { NoteKey } from '@svc/protocol/transparency/note'
import { seedIn } from '@svc/service/program/keys'
import type { Secrets } from '../../config.ts'
import type { Context } from '../../context.ts'
import type { LogTable } from '../../db/schema.ts'
import { type EndedLog, endedLogs, findLog, insertLog, lockLogs, newestCheckpoint } from './store.ts'

export interface LogIdentity {
  key: NoteKey
  /** Null if this process does not have the key of the log: it only reads, and others write. */
  signer: Ed25519Signer | null
  /** The previous logs of this database, newest first. */
  ended: EndedLog[]
}

/** A database that has signed a checkpoint keeps its log; before that, nothing depends on the log's name. */
const WHILE_BEHIND = { whileBehind: true }

export async function openIdentity(
  { config: { transparency }, database: { db, commit }, log }: Context,
  { logSeed }: Pick<Secrets, 'logSeed'>,
): Promise<LogIdentity> {
  const signer = ed25519Signer(logSeed ?? seedIn(transparency.keyFile))
  const own: LogTable = { origin: transparency.origin, public_key_hex: toHex(signer.publicKey) }
  const known = await commit(async (tx) => {
    await lockLogs(tx)
    const before = await findLog(tx)
    if (before && (await newestCheckpoint(tx))) return before
    // Nothing is signed yet, so the admin's settings still apply.
    const log = before ? withConfigured(before) : own
    await insertLog(tx, log)
    return log
  }, WHILE_BEHIND)

  function withConfigured(before: LogTable): LogTable {
    return {
      origin: transparency.isOriginSet ? own.origin : before.origin,
      public_key_hex: logSeed ? own.public_key_hex : before.public_key_hex,
    }
  }

  if (transparency.isOriginSet && known.origin !== own.origin)
    throw new Error(`LOG_ORIGIN is ${own.origin}, but the log of this database is ${known.origin}, which cannot change`)
  const isOwn = known.public_key_hex === own.public_key_hex
  if (!isOwn)
    log.warn(`the log ${known.origin} has another key: set LOG_KEY to that key, or this process cannot write the log`)
  const publicKey = fromHex(known.public_key_hex) as Uint8Array // written as hex
  return {
    key: { name: known.origin, type: 'log', publicKey },
    signer: isOwn ? signer : null,
    ended: await endedLogs(db),
  }
}
