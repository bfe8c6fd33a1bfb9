import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forEachDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrations } from '../../src/db/migrations.ts'
import type { Db, Schema } from '../../src/db/schema.ts'
import { findRecord } from '../../src/evidence/store.ts'
import { activateSigningKey } from '../../src/keys/store.ts'
import {
  addReceipt,
  type Exported,
  exported,
  jsonLines,
  signerHex,
  vectorKey,
  vectorRecord,
} from '../evidence/import/export-records.ts'
import { startCommand } from '../gateway-process.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-import-'))
})
afterAll(() => rm(folder, { recursive: true }))

function start(args: string[], env: Record<string, string>) {
  return startCommand(['import-attestations', ...args], { SVC_MODE: 'development', DATA_DIR: folder, ...env })
}

async function exportFile(name: string, content: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, content)
  return path
}

forEachDatabase('the command that imports attestations', (database) => {
  let db: Db
  beforeAll(async () => {
    db = (await database.openMigrated<Schema>(migrations)).db
    await activateSigningKey(writable(db), vectorKey, '2025-01-01T00:00:00Z')
    await activateSigningKey(writable(db), signerHex, '2026-06-13T00:00:00Z')
  })

  const run = (...args: string[]) => start(args, { DATABASE_URL: database.url }).ended
  const records = (...names: string[]) => Promise.all(names.map(async (name) => exported(await addReceipt(db, name))))

  it('imports an export, checks signatures with the keys of their time, and prints a report', async () => {
    await addReceipt(db, vectorRecord.receipt_id as string)
    const [foreign] = await records('rcpt_foreign')
    const path = await exportFile('good.json', JSON.stringify([vectorRecord, foreign]))
    const unverified = [
      'Unverified signature:',
      `  entry 2 (${foreign?.locker_id}): no key that this gateway used at that time has signed it`,
    ]
    expect(await run(path)).toMatchObject({
      code: 0,
      stdout: ['2 records: 2 imported, 0 already present, 0 refused.', '', ...unverified, ''].join('\n'),
      stderr: '',
    })
    const imported = await findRecord(db, vectorRecord.receipt_id as string)
    expect(imported).toMatchObject({ sequence: 0, status: null, anchor: vectorRecord.anchor })
  })

  // Output and exit code do not depend on the database.
  if (database.dialect === 'sqlite') {
    it('exits with 1 when a record is refused, in a dry run too, and imports the others', {
      tags: ['nightly'],
    }, async () => {
      const signed = { attested_at: '2026-06-20T00:00:00Z' }
      const [good, spoiled] = (await records('rcpt_good', 'rcpt_spoiled')).map((record) => ({ ...record, ...signed }))
      const path = await exportFile('mixed.jsonl', jsonLines([{ ...spoiled, file_count: 5 }, good as Exported]))
      const refused = `\n\nRefused:\n  line 1 (${spoiled?.locker_id}): mismatch: file_count: the number of files is 2\n`

      const rehearsed = await run('--dry-run', path)
      const would = `2 records: 1 would be imported, 0 already present, 1 refused.${refused}`
      expect(rehearsed).toMatchObject({ code: 1, stdout: would, stderr: '' })
      expect(await findRecord(db, 'rcpt_good')).toBeNull()

      const did = `2 records: 1 imported, 0 already present, 1 refused.${refused}`
      expect(await run(path)).toMatchObject({ code: 1, stdout: did, stderr: '' })
      expect(await findRecord(db, 'rcpt_good')).not.toBeNull()
      expect(await findRecord(db, 'rcpt_spoiled')).toBeNull()
    })
  }

  it('keeps the imported records when it is killed, and the next run continues after them', {
    tags: ['nightly'],
  }, async () => {
    const all = await records('rcpt_k1', 'rcpt_k2', 'rcpt_k3')
    const victim = start(['-'], { DATABASE_URL: database.url })
    victim.stdin.write(jsonLines(all.slice(0, 2)))
    await expect.poll(() => findRecord(db, 'rcpt_k2')).not.toBeNull()
    await victim.kill()
    expect(await findRecord(db, 'rcpt_k3')).toBeNull()

    const { code, stdout } = await run(await exportFile('all.jsonl', jsonLines(all)))
    expect(code).toBe(0)
    expect(stdout).toMatch(/^3 records: 1 imported, 2 already present, 0 refused\.\n/)
  })
})

describe('the command that imports attestations exits with 2', () => {
  it.each<[string, string[], RegExp]>([
    ['without an export', [], /^usage: .*\n$/],
    ['with an unknown option', ['--force', 'a'], /^Unknown option '--force'/],
    ['with an export file that does not exist', ['/nowhere/export.json'], /^ENOENT: .*\n$/],
    ['with a folder instead of an export file', [tmpdir()], /^EISDIR: .*\n$/],
  ])('%s', { tags: ['nightly'] }, async (_name, args, stderr) => {
    const outcome = await start(args, {}).ended
    expect(outcome).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(stderr) })
  })

  it('with a configuration that the gateway refuses', async () => {
    const { code, stdout, stderr } = await start(['export.json'], { SVC_MODE: 'production' }).ended
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('The configuration is not usable:')
    expect(stderr).not.toContain('    at ')
  })
})
