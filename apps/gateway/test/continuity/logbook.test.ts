import { appendFile, mkdtemp, readdir, readFile, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { forEachDatabase } from '@svc/devnet/databases'
import { startProcess } from '@svc/devnet/start-process'
import { writable } from '@svc/devnet/writable'
import { QUOTE_SCHEMA } from '@svc/protocol/names'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { hasLostNonces, missingInDatabase } from '../../src/continuity/compare.ts'
import type { Entry, NotedRevocation, NotedStatement } from '../../src/continuity/entries.ts'
import { openLogbook } from '../../src/continuity/logbook.ts'
import { type Dated, readBackwards, readNonces } from '../../src/continuity/logbook-files.ts'
import type { Revoked } from '../../src/continuity/revoked.ts'
import type { Sale } from '../../src/continuity/sale.ts'
import { recordLostStatement } from '../../src/continuity/store.ts'
import { migrations } from '../../src/db/migrations.ts'
import type { Schema } from '../../src/db/schema.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-logbook-'))
})
afterEach(() => rm(folder, { recursive: true }))

const PROOF = 'a'.repeat(32)

function statement(sequence: number, proofId = PROOF): Entry {
  return { kind: 'statement', proofId, sequence, digest: sequence.toString(16).padStart(64, '0') }
}

function revocation(digit: string, revokedAt: number, revoked: Revoked): NotedRevocation {
  return { kind: 'revocation', id: digit.repeat(32), revokedAt, revoked }
}

const OF_A_LATER_RELEASE = `revocation 7 ${'3'.repeat(32)} 7 {"what":"something new"}\npromise 7 of another kind\n`

async function pagesIn(): Promise<Dated[][]> {
  const pages: Dated[][] = []
  for await (const file of readBackwards(folder)) for await (const page of file.pages()) pages.push(page)
  return pages
}

it('T-86 a second gateway on another copy of the database does not start while the first lives', async () => {
  const program = new URL('./programs/hold-logbook.ts', import.meta.url)
  const holder = startProcess(program, { args: [folder, 'one copy'] })
  await holder.said(/noted/)

  await expect(openLogbook(folder, 'another copy')).rejects.toThrow(`in use by process ${holder.pid} on`)
  const sharing = await openLogbook(folder, 'one copy')
  await sharing.close()

  await holder.kill()
  const heir = await openLogbook(folder, 'another copy')
  await heir.close()
  expect((await pagesIn()).flat()).toMatchObject([{ at: 1, entry: { kind: 'statement', sequence: 1 } }])
  expect(await readNonces(folder)).toEqual([{ signer: 'a-wallet', nonce: 'c'.repeat(32), forget_at: 180 }])
})

it('ADD-29 is read from its end in pages, without a line that a crash cut off, and only its owner may read it', async () => {
  const logbook = await openLogbook(folder, 'history')
  const sequences = Array.from({ length: 3000 }, (_, i) => i + 1)
  await Promise.all(sequences.map((sequence) => logbook.append([statement(sequence)], sequence)))
  await logbook.turnTo('another history')
  await logbook.append([statement(3001)], 3001)
  await logbook.close()
  const names = (await readdir(folder)).filter((name) => name.endsWith('.log')).sort()
  expect(names).toHaveLength(2)
  expect(await readFile(join(folder, names[1]!), 'utf8')).toContain('"database":"another history"')
  expect((await stat(join(folder, names[0]!))).mode & 0o777).toBe(0o600)
  await appendFile(join(folder, names[1]!), 'statement 9 0123')

  const pages = await pagesIn()
  expect(pages.length).toBeGreaterThan(3)
  const inOrder = pages.toReversed().flat()
  expect(inOrder.map(({ at }) => at).sort((a, b) => a - b)).toEqual([...sequences, 3001])
})

it('ADD-29 a line that a full disk cut off takes no other entry with it', async () => {
  const program = fileURLToPath(new URL('./programs/fill-logbook.ts', import.meta.url))
  // No file may have more than a kibibyte: writing fails in the middle of a line.
  const args = ['-c', 'ulimit -f 1; exec "$@"', 'bash', process.execPath, program, folder, '40']
  const [failures] = await startProcess('bash', { args }).said(/^\d+$/)
  expect(Number(failures)).toBeGreaterThan(3)
  const entries = (await pagesIn()).flat().map(({ entry }) => entry as { sequence: number })
  expect(new Set(entries.map(({ sequence }) => sequence))).toEqual(new Set(Array.from({ length: 40 }, (_, i) => i + 1)))
})

it('T-37 ADD-29 a nonce that a full disk did not take keeps the logbook failing until it is kept', async () => {
  const program = new URL('./programs/keep-nonce-on-full-disk.ts', import.meta.url)
  const [isFailing] = await startProcess(program, { args: [folder] }).said(/^\[.*/)
  expect(JSON.parse(isFailing)).toEqual([true, true, false])
  expect(await readNonces(folder)).toEqual([{ signer: 'a-wallet', nonce: 'c'.repeat(32), forget_at: 180 }])
})

const SALE: Sale = {
  provider: 'gcs',
  units: 1,
  createdAt: 1,
  expiresAt: 301,
  url: 'https://gateway.example/v1/storage/request',
  terms: { storage_limit_bytes: 1, file_limit: 1, egress_included_bytes: 1, ttl_days: 1 },
  leg: {
    scheme: 'exact',
    network: 'eip155:143',
    amount: '5',
    asset: '0x02',
    payTo: '0x03',
    maxTimeoutSeconds: 300,
    extra: { name: 'USDC', decimals: 6, human_amount: '0.000005', quote_schema: QUOTE_SCHEMA },
  },
  payer: '0x04',
  received: '5',
  height: 6,
}

forEachDatabase('a logbook and its database', (database) => {
  it('T-37 T-85 T-180 everything noted is missing in another database, once, until it is accepted', async () => {
    const { db } = await database.openMigrated<Schema>(migrations)
    const logbook = await openLogbook(folder, 'history')
    const payment = { network: 'evm-mainnet', tx: '0x01' }
    const paid = { kind: 'receipt', ...payment, proofId: null, confirmedAt: 5 } as const
    const receipt = { ...paid, receiptHash: 'd'.repeat(64), sale: SALE }
    const unsold = { ...paid, receiptHash: 'e'.repeat(64), sale: null }
    const entries = [statement(2), statement(1), statement(2), receipt, unsold, { kind: 'refund', ...payment } as const]
    await logbook.append(entries, 7)
    const opened = revocation('2', 6, { what: 'restriction', locker: 'a', restriction: null, notice: null })
    const closed = revocation('1', 5, { what: 'link', locker: 'a' })
    await logbook.append([opened, closed], 7)
    await appendFile(join(folder, (await readdir(folder)).find((name) => name.endsWith('.log'))!), OF_A_LATER_RELEASE)
    logbook.keepNonce({ signer: 'wallet', nonce: 'e'.repeat(32), forget_at: 100 })

    const missing = await missingInDatabase(db, folder)
    expect(missing).toEqual({
      statements: [statement(1), statement(2)],
      payments: [receipt, unsold, { kind: 'refund', ...payment }],
      revocations: [closed, opened],
    })
    expect([await hasLostNonces(db, folder, 99), await hasLostNonces(db, folder, 100)]).toEqual([true, false])

    await writable(db)
      .transaction()
      .execute(async (tx) => {
        for (const lost of missing.statements.toReversed()) await recordLostStatement(tx, lost, 8)
      })
    const { statements, payments } = await missingInDatabase(db, folder, { all: true })
    expect([statements, payments.length]).toEqual([[], 3])
    await logbook.close()
  })

  it('T-162 with more than twenty processes, none that lived with the newest known entry is left out', async () => {
    const { db } = await database.openMigrated<Schema>(migrations)
    const of = (sequence: number) => statement(sequence, 'b'.repeat(32)) as NotedStatement
    await writable(db)
      .transaction()
      .execute((tx) => recordLostStatement(tx, of(2), 8))
    const now = Math.floor(Date.now() / 1000)
    const noted = async (sequence: number, touched: number) => {
      const before = await readdir(folder)
      const logbook = await openLogbook(folder, 'history')
      await logbook.append([of(sequence)], now)
      await logbook.close()
      const [name] = (await readdir(folder)).filter((each) => each.endsWith('.log') && !before.includes(each))
      await utimes(join(folder, name!), touched, touched)
    }
    await noted(4, now - 3600)
    await noted(3, now - 15)
    for (let i = 0; i < 25; i++) await noted(2, now)
    expect((await missingInDatabase(db, folder)).statements).toEqual([of(3)])
    expect((await missingInDatabase(db, folder, { all: true })).statements).toEqual([of(3), of(4)])
  })
})
