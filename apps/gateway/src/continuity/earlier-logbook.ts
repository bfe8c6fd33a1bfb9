// The logbook of release 1.1.0, which has hashes of what was signed but no documents. A database that lacks some of it
// is a backup from before this release; release 1.1.0 has to repair it.

import { hash } from 'node:crypto'
import { join } from 'node:path'
import { filesIn, readLines } from '@svc/database/journal/folder'
import type { Position } from '@svc/database/journal/journal'
import type { Db } from '../db/schema.ts'
import { unknownStatements } from './statements.ts'
import { knownKeys } from './store.ts'

export const LOG = '.log'
const STATEMENT = /^statement \d+ ([0-9a-f]{32}) (\d+) ([0-9a-f]{64})$/
const RECEIPT = /^receipt \d+ (\S+) (\S+) ([0-9a-f]{64}) /
const REVOCATION = /^revocation \d+ ([0-9a-f]{32}) /
const LINES_AT_ONCE = 500

/**
 * How many entries the database lacks, and how far the files were read. `from`: how far the database knows the files.
 */
export async function compareEarlier(
  db: Db,
  folder: string,
  from: ReadonlyMap<string, number>,
): Promise<{ missing: number; ends: Position[] }> {
  let missing = 0
  const ends: Position[] = []
  for (const { name: file, size } of await filesIn(folder, LOG)) {
    const known = from.get(file) ?? 0
    if (known >= size) continue
    let end = known
    let page: string[] = []
    for await (const line of readLines(join(folder, file), known)) {
      page.push(line.text)
      end = line.end
      if (page.length < LINES_AT_ONCE) continue
      missing += await countMissing(db, page)
      page = []
    }
    missing += await countMissing(db, page)
    ends.push({ file, end })
  }
  return { missing, ends }
}

async function countMissing(db: Db, lines: readonly string[]): Promise<number> {
  const statements = lines.flatMap((line) => {
    const found = STATEMENT.exec(line)
    return found ? [{ proofId: found[1]!, sequence: Number(found[2]), digest: found[3]! }] : []
  })
  const revocations = lines.flatMap((line) => REVOCATION.exec(line)?.[1] ?? [])
  const known = await knownKeys(db, 'access', revocations)
  let missing = (await unknownStatements(db, statements)).length + revocations.filter((id) => !known.has(id)).length
  for (const line of lines) {
    const [, network, tx, receiptHash] = RECEIPT.exec(line) ?? []
    if (tx !== undefined && !(await hasReceipt(db, network!, tx, receiptHash!))) missing++
  }
  return missing
}

/** Also true where release 1.1.0 has recorded the loss of the receipt as accepted. */
async function hasReceipt(db: Db, network: string, tx: string, receiptHash: string): Promise<boolean> {
  const receipts = await db.selectFrom('receipts').select('receipt_id').where('tx', '=', tx).execute()
  if (receipts.some(({ receipt_id }) => hash('sha256', `svc/logbook ${receipt_id}`) === receiptHash)) return true
  const payment = await db
    .selectFrom('payment_transactions')
    .select('kind')
    .where('network', '=', network)
    .where('tx', '=', tx)
    .executeTakeFirst()
  return payment?.kind === 'lost'
}
