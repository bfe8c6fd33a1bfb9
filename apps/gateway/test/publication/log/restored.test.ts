import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Health, SigningKeys } from '@svc/api/info'
import type { LogState } from '@svc/api/log'
import { forEachDatabase } from '@svc/devnet/databases'
import { ed25519Identity, expectRefusal, openTestGateway, type TestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { fromHex } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { readCheckpoint, signCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { formatKey, isSignedBy, type NoteKey } from '@svc/protocol/transparency/note'
import { isProvenEntry, type LogProof, readProof } from '@svc/protocol/transparency/proof'
import type { Variables } from '@svc/service/program/config'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { copyDatabase, dropBackup } from '../../continuity/copy-database.ts'
import { healthIn } from '../../continuity/health.ts'
import { askToAttest, attest } from '../../evidence/attest.ts'
import { runCommand } from '../../gateway-process.ts'
import { addStatements, logReader } from './log-reader.ts'

forEachDatabase('a database that is behind its published log', (database) => {
  let folder: string
  let variables: Variables & Record<string, string>
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-log-restored-'))
    // There is no logbook, so that only the log reveals the loss.
    variables = { DATA_DIR: folder, DATABASE_URL: database.url, LOGBOOK_DIR: 'off', LOG_STORE: join(folder, 'log') }
  })
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true })
    await dropBackup(database)
  })

  function untilState({ gateway }: TestGateway, wanted: string): Promise<Health> {
    gateway.context.continuity.compareAgain()
    return healthIn(gateway, wanted)
  }

  const command = (...args: string[]) => runCommand(args, { SVC_MODE: 'development', ...variables })
  const readerOf = ({ gateway }: TestGateway) => logReader(gateway.url, gateway.context.logIdentity.key)
  const dbOf = ({ gateway }: TestGateway) => gateway.context.database.db

  it('LOG-16 refuses a location where another log is published', async () => {
    const signer = ed25519Signer(Buffer.alloc(32, 9))
    const other = { name: 'other.example/log', type: 'log' as const, publicKey: signer.publicKey }
    const elsewhere = await mkdtemp(join(folder, 'other-'))
    await writeFile(
      join(elsewhere, 'checkpoint'),
      await signCheckpoint(other, { size: 1, root: Buffer.alloc(32) }, signer.sign),
    )
    const instance = await openTestGateway({ ...variables, LOG_STORE: elsewhere })
    expect((await untilState(instance, 'behind')).continuity).toMatchObject({ log: 'foreign' })
    await instance.close()
  })

  describe('from its loss to another log', { shuffle: false }, () => {
    it('T-37 LOG-16 signs nothing, reports why, and continues from the published log after a replay', async () => {
      let instance = await openTestGateway(variables)
      const locker = await instance.locker(ed25519Identity())
      await locker.put('a', '1')
      await attest(instance, locker)
      await addStatements(dbOf(instance), 300)
      await instance.gateway.context.publishLog()
      await addStatements(dbOf(instance), 3)
      await instance.close()
      await copyDatabase(database, 'live')

      instance = await openTestGateway(variables)
      const lost = await addStatements(dbOf(instance), 500)
      const rows = await dbOf(instance)
        .selectFrom('statements')
        .selectAll()
        .where('statement_digest', 'in', lost)
        .execute()
      await instance.gateway.context.publishLog()
      const lostHead = await readerOf(instance).head()
      const entries = await readerOf(instance).entries(lostHead)
      expect(lostHead.size).toBe(804)
      await instance.close()
      await copyDatabase(database, 'backup')

      instance = await openTestGateway(variables)
      const behind = await untilState(instance, 'behind')
      expect(behind).toMatchObject({
        status: 'degraded',
        continuity: { log: 'behind', heal: expect.stringContaining('svc-gateway replay') },
      })
      expectRefusal(await askToAttest(instance, locker), 503, 'database_behind')
      await expect(instance.gateway.context.publishLog()).rejects.toThrow('older than what this gateway has signed')
      // The log itself stays readable.
      expect(await readerOf(instance).head()).toEqual(lostHead)
      const shown = await command('log')
      expect([shown.code, JSON.parse(shown.stdout)], shown.stderr).toEqual([
        1,
        { published: 804, database: 'behind', missing: 503 },
      ])
      const restored = await command('replay', '--reason', 'restored the backup')
      expect(restored.code, restored.stdout).toBe(0)
      expect((await untilState(instance, 'current')).continuity).toMatchObject({ log: 'ok' })
      // Statements pending in the backup keep the positions that the log has given them since, and so do rebuilt ones.
      await instance.gateway.context.publishLog()
      expect(await readerOf(instance).head()).toEqual(lostHead)
      await writable(dbOf(instance)).insertInto('statements').values(rows).execute()
      const more = await addStatements(dbOf(instance), 20)
      await instance.gateway.context.publishLog()
      const head = await readerOf(instance).head()
      await readerOf(instance).expectGrown(lostHead, head)
      expect(await readerOf(instance).entries(head)).toEqual([...entries, ...more])
      const audit = await dbOf(instance).selectFrom('audit_log').select(['action', 'reason']).execute()
      expect(audit).toEqual([{ action: 'replay', reason: 'restored the backup' }])
      await instance.close()
    })

    it('T-37 LOG-16 never mixes the log with a history of the same database that was published elsewhere', async () => {
      await copyDatabase(database, 'backup')
      let instance = await openTestGateway({ ...variables, LOG_STORE: join(folder, 'elsewhere') })
      await addStatements(dbOf(instance), 1000)
      await instance.gateway.context.publishLog()
      await instance.close()
      instance = await openTestGateway(variables)
      expect(await untilState(instance, 'behind')).toMatchObject({
        continuity: { log: 'forked', heal: expect.stringContaining('belongs to another database') },
      })
      const refused = await command('replay', '--reason', 'hope')
      expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('other entries than the log')])
      await instance.close()
    })

    async function proofOf({ gateway }: TestGateway, digest: string) {
      const response = await fetch(`${gateway.url}/v1/log/proof?statement_digest=${digest}`)
      const proof = readProof(await response.text())
      if (typeof proof === 'string') throw new Error(proof)
      expect(isProvenEntry(proof, fromHex(digest)!)).toBe(true)
      return proof
    }
    const begin = (origin: string) => command('replay', '--new-log', origin, '--reason', 'it has forked')
    let digests: string[]
    let oldKey: NoteKey
    let oldProof: LogProof
    let ended: { origin: string; vkey: string; checkpoints: string[] }
    const origin = 'gateway.example/log-2'

    it('LOG-51 LOG-52 the admin ends a log that has forked', async () => {
      const instance = await openTestGateway(variables)
      await untilState(instance, 'behind')
      oldKey = instance.gateway.context.logIdentity.key
      const placed = dbOf(instance).selectFrom('log_entries').select('statement_digest').where('entry_index', '>=', 0)
      digests = (await placed.orderBy('entry_index').execute()).map(({ statement_digest }) => statement_digest)
      oldProof = await proofOf(instance, digests[0]!)
      expect((await begin('two words')).stderr).toContain('without spaces')
      expect((await begin(oldKey.name)).stderr).toContain('has already signed')
      const begun = await begin(origin)
      expect(begun.stderr).toContain('LOG_STORE')
      ended = JSON.parse(begun.stdout.slice(begun.stdout.indexOf('{'), begun.stdout.lastIndexOf('}') + 1)).ended
      expect([ended.origin, ended.vkey]).toEqual([oldKey.name, formatKey(oldKey)])
      // Both checkpoints of the forked log, signed by its key.
      expect(ended.checkpoints.map((text) => readCheckpoint(text))).toMatchObject([{ size: 1304 }, { size: 824 }])
      // A process that has not restarted signs nothing.
      await untilState(instance, 'behind')
      await expect(instance.gateway.context.publishLog()).rejects.toThrow('older than what this gateway has signed')
      await instance.close()
    })

    it('LOG-51 begins another log with all statements', async () => {
      const instance = await openTestGateway({ ...variables, LOG_STORE: join(folder, 'log-2') })
      await untilState(instance, 'current')
      while (await instance.gateway.context.publishLog());
      expect(await readerOf(instance).entries(await readerOf(instance).head())).toEqual(digests)
      const state = (await instance.send<LogState>('GET', '/v1/log')).body
      expect(state).toMatchObject({ origin, size: digests.length, ended: [{ ...ended, ended_at: expect.any(String) }] })
      const { logs } = (await instance.send<SigningKeys>('GET', '/v1/keys')).body
      expect(logs).toEqual([
        { origin, vkey: state.vkey },
        { origin: ended.origin, vkey: ended.vkey },
      ])
      const newProof = await proofOf(instance, digests[0]!)
      expect([isSignedBy(oldProof.checkpoint.note, oldKey), isSignedBy(newProof.checkpoint.note, oldKey)]).toEqual([
        true,
        false,
      ])
      expect((await begin(oldKey.name)).stderr).toContain('has already signed')
      const audit = dbOf(instance)
        .selectFrom('audit_log')
        .select(['reason', 'details'])
        .where('action', '=', 'begin_log')
      expect((await audit.execute()).map(({ reason, details }) => [reason, JSON.parse(details)])).toEqual([
        ['it has forked', { ...ended, next: origin }],
      ])

      // Simulates another log that begins while this process is running.
      await addStatements(dbOf(instance), 1)
      await writable(dbOf(instance)).updateTable('logs').set({ origin: 'gateway.example/log-3' }).execute()
      await expect(instance.gateway.context.publishLog()).rejects.toThrow('another log has started')
      await writable(dbOf(instance)).updateTable('logs').set({ origin }).execute()
      await instance.gateway.context.publishLog()
      expect((await readerOf(instance).head()).size).toBe(digests.length + 1)
      await instance.close()
    })
  })
})
