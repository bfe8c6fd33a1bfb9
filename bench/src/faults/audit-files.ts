import { setTimeout } from 'node:timers/promises'
import { type LockerEntry, lockersOf } from '../mixed/ledger.ts'
import { hashOf, publicPath } from '../mixed/uploads.ts'
import type { Audit } from './check.ts'

interface Listed {
  filename: string
  content_hash?: string | null
  status: string
}

/**
 * Checks that each name has the bytes acknowledged last, and that every listed file can be read. A restored database
 * lists files again that were deleted after its backup: their bytes are gone, and the ledger allows that.
 */
export async function auditFiles({ ledger, shopper, client, each, check }: Audit): Promise<void> {
  const intact = check('every acknowledged file is stored byte for byte, and every deletion is done')
  const access = check('every acknowledged change of access is stored')
  const readable = check('no file is listed whose bytes are missing')

  async function read(locker: LockerEntry, filename: string): Promise<string | null> {
    const path = publicPath(locker, filename)
    const request = { operation: 'audit', method: 'GET', path }
    for (let attempts = 0; attempts < 100; attempts++) {
      const answer = await client.read(request)
      if (answer?.status === 200) return hashOf(answer.bytes)
      if (answer?.status === 404) return null
      await setTimeout(100)
    }
    throw new Error(`no answer about ${filename}`)
  }

  await each(lockersOf(ledger), async (locker) => {
    for (const [filename, { possible }] of locker.files) {
      intact.checked++
      const found = await read(locker, filename)
      if (!possible.has(found))
        intact.broken.push(
          `${locker.lockerId} ${filename}: found ${found ?? 'nothing'}, expected ${describe(possible)}`,
        )
    }
    const about = { ...locker, path: `/v1/lockers/${locker.lockerId}/record`, ops: ['locker:read'] }
    const record = await shopper.signed(locker.owner, 'audit', about)
    if (!record) throw new Error(`no record of ${locker.lockerId}`)
    for (const [key, possible] of locker.operators) {
      access.checked++
      const isOperator = (record.operators as string[]).includes(key)
      if (!possible.has(isOperator)) access.broken.push(`${locker.lockerId}: ${key} is ${isOperator ? 'in' : 'out'}`)
    }
    const path = `/v1/lockers/${locker.lockerId}/files`
    const list = await shopper.signed(locker.owner, 'audit', { ...locker, path, ops: ['locker:list'] })
    if (!list) throw new Error(`no list of ${locker.lockerId}`)
    for (const { filename, content_hash, status } of list.files as Listed[]) {
      if (status !== 'confirmed') continue
      readable.checked++
      const found = await read(locker, filename)
      const isUndeleted = found === null && locker.files.get(filename)?.possible.has(null) && ledger.losses.length > 0
      if (isUndeleted) ledger.restores.undeleted++
      else if (found !== content_hash) {
        const expected = describe(locker.files.get(filename)?.possible ?? new Set())
        const problem = `found ${found ?? 'nothing'}, listed with ${content_hash}, expected ${expected}`
        readable.broken.push(`${locker.lockerId} ${filename}: ${problem}`)
      }
    }
  })
}

function describe(possible: ReadonlySet<string | null>): string {
  return [...possible].map((hash) => hash ?? 'nothing').join(' or ')
}
