import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { poll } from '@svc/concurrency/retry'
import { forEachDatabase } from '@svc/devnet/databases'
import { openTestGateway, type TestGateway } from '@svc/devnet/services/test-gateway'
import { testKey } from '@svc/protocol/test/transparency/keys'
import { type Checkpoint, cosign, cosignaturesOf, readCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { formatKey, formatSignature } from '@svc/protocol/transparency/note'
import { readProof } from '@svc/protocol/transparency/proof'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newestCheckpoint } from '../../../../src/publication/log/store.ts'
import { createWitnesses } from '../../../../src/publication/log/witnesses/witnesses.ts'
import { addStatements } from '../log-reader.ts'
import { refuse, startTestWitness, type TestWitness } from './test-witness.ts'

let first: TestWitness
let second: TestWitness
let folder: string
beforeAll(async () => {
  ;[first, second] = await Promise.all([startTestWitness('one.example'), startTestWitness('two.example')])
  folder = await mkdtemp(join(tmpdir(), 'svc-witnesses-'))
})
afterAll(async () => {
  await Promise.all([first.stop(), second.stop()])
  await rm(folder, { recursive: true })
})

forEachDatabase('witnesses of the log', (database) => {
  describe('while it grows', { shuffle: false }, () => {
    let instance: TestGateway
    beforeAll(async () => {
      const policy = join(folder, 'policy')
      await writeFile(policy, `${first.line}\n${second.line}\ngroup both all one.example two.example\nquorum both\n`)
      instance = await openTestGateway({ DATABASE_URL: database.url, LOG_POLICY_FILE: policy, RUN_JOBS: 'false' })
      for (const witness of [first, second]) {
        witness.trust(instance.gateway.context.logIdentity.key)
        witness.forget()
      }
    })
    afterAll(() => instance.close())
    beforeEach(() => {
      first.honestly()
      second.honestly()
    })

    const db = () => instance.gateway.context.database.db
    const context = () => instance.gateway.context

    async function publishedCheckpoint(): Promise<Checkpoint> {
      const response = await fetch(`${instance.gateway.url}/log/checkpoint`)
      const checkpoint = readCheckpoint(await response.text())
      if (typeof checkpoint === 'string') throw new Error(checkpoint)
      return checkpoint
    }
    const cosigners = async () =>
      cosignaturesOf(await publishedCheckpoint(), [first.key, second.key]).map(({ key }) => key.name)

    /** The witnesses as another process asks them: without the retry delays of this one. */
    const otherProcess = () =>
      createWitnesses({
        ...instance.gateway.context,
        policy: context().config.transparency.policy,
        readTile: context().publishedLog.coveredTile,
      })

    it('LOG-20 publishes checkpoints with the cosignatures of all witnesses, proven from the size that each knows', async () => {
      const [digest] = await addStatements(db(), 300)
      await context().publishLog()
      expect(await cosigners()).toEqual(['one.example', 'two.example'])
      await addStatements(db(), 5)
      await context().publishLog()
      expect(await cosigners()).toEqual(['one.example', 'two.example'])
      expect(first.requests).toEqual([
        { old: 0, size: 300 },
        { old: 300, size: 305 },
      ])
      const proof = readProof((await context().transparencyLog.proof(digest!))!.proof)
      if (typeof proof === 'string') throw new Error(proof)
      expect(cosignaturesOf(proof.checkpoint, [first.key, second.key])).toHaveLength(2)
      expect(await db().selectFrom('log_witnesses').select(['size', 'failing_since']).execute()).toEqual([
        { size: 305, failing_since: null },
        { size: 305, failing_since: null },
      ])
    })

    it('LOG-21 a slow witness delays nothing, and its late cosignature is stored', async () => {
      const late = Promise.withResolvers<void>()
      second.behave(async (_, honest) => {
        await late.promise
        await honest()
      })
      await addStatements(db(), 1)
      await context().publishLog()
      expect(await cosigners()).toEqual(['one.example'])
      late.resolve()
      const recorded = (await newestCheckpoint(db()))!
      const isKept = async () => ((await context().witnesses.cosigned(recorded)).includes('two.example') ? true : null)
      await poll(isKept, { intervalMs: 20, timeoutMs: 30_000 })
      await context().publishLog()
      expect(await cosigners()).toEqual(['one.example', 'two.example'])
      expect(second.requests.at(-1)).toEqual({ old: 305, size: 306 })
    })

    it('LOG-21 proves again from the size that a witness names', async () => {
      // The witness has cosigned for another process, which lost the response.
      second.behave(async (response, honest) => {
        second.honestly()
        const answer = response.end.bind(response)
        response.end = (() => answer()) as typeof response.end
        await honest()
      })
      const before = first.requests.length
      await addStatements(db(), 1)
      await context().publishLog()
      expect(await cosigners()).toEqual(['one.example'])
      expect(first.requests.length).toBe(before + 1)

      const asked = second.requests.length
      await otherProcess().ask((await newestCheckpoint(db()))!)
      expect(second.requests.slice(asked)).toEqual([
        { old: 306, size: 307 },
        { old: 307, size: 307 },
      ])
      await context().publishLog()
      expect(await cosigners()).toEqual(['one.example', 'two.example'])
    })

    it('LOG-22 proves inclusion in the newest checkpoint with a quorum, and publishes the newest one even without', async () => {
      second.behave((response) => refuse(response, 503))
      const [digest] = await addStatements(db(), 1)
      const logged = await db()
        .selectFrom('log_entries')
        .select('statement_digest')
        .where('entry_index', '=', 0)
        .execute()
      await context().publishLog()
      expect(await cosigners()).toEqual(['one.example'])
      const sizeOf = async (of: string) => {
        const proof = readProof((await context().transparencyLog.proof(of))!.proof)
        return typeof proof === 'string' ? proof : proof.checkpoint.size
      }
      expect(await sizeOf(logged[0]!.statement_digest)).toBe(307)
      expect(await sizeOf(digest!)).toBe(308)
      await otherProcess().ask((await newestCheckpoint(db()))!)
      const row = db().selectFrom('log_witnesses').selectAll().where('witness', '=', formatKey(second.key))
      expect(await row.executeTakeFirst()).toMatchObject({ size: 307, problem: 'it answers 503' })
      expect((await row.executeTakeFirst())?.failing_since).not.toBeNull()

      second.honestly()
      await otherProcess().ask((await newestCheckpoint(db()))!)
      expect(await row.executeTakeFirst()).toMatchObject({ size: 308, problem: null, failing_since: null })
      await context().publishLog()
      expect(await sizeOf(logged[0]!.statement_digest)).toBe(308)
    })

    it('LOG-20 LOG-21 accepts nothing from a witness that violates the protocol', async () => {
      await addStatements(db(), 1)
      second.behave((response) => refuse(response, 500))
      await context().publishLog()
      const recorded = (await newestCheckpoint(db()))!
      const checkpoint = await publishedCheckpoint()
      const unlisted = testKey('three.example', 'cosigner')
      const wrongKey = testKey('other key', 'cosigner')
      const signatures = {
        unlisted: formatSignature(await cosign(unlisted.key, checkpoint, 1, unlisted.sign)),
        forged: formatSignature(await cosign(second.key, checkpoint, 1, wrongKey.sign)),
        other: formatSignature(
          await cosign(second.key, { ...checkpoint, note: { text: 'x\n', signatures: [] } }, 1, second.sign),
        ),
      }
      const cases: [string, number, string][] = [
        ['its answer has no signature by its key', 200, signatures.unlisted],
        ['its answer has no signature by its key', 200, signatures.forged],
        ['its answer has no signature by its key', 200, signatures.other],
        ['its answer is malformed: there is no signature line that ends in a newline', 200, 'hello'],
        ['its answer is too long', 200, '— '.repeat(100_000)],
        ['it answers 409 without a size', 409, 'ten'],
        ['it answers 409 without a size', 409, '9999999999999999\n'],
        ['it has cosigned another tree of the same size', 409, '308\n'],
        ['it has cosigned a larger log, with 310 entries', 409, '310\n'],
        ['it answers 302', 302, ''],
        ['it answers 422', 422, ''],
      ]
      for (const [problem, status, body] of cases) {
        second.behave((response) => {
          response.writeHead(status, { location: `http://127.0.0.1:1/` }).end(body)
        })
        await otherProcess().ask(recorded)
        const row = db().selectFrom('log_witnesses').select('problem').where('witness', '=', formatKey(second.key))
        expect((await row.executeTakeFirst())?.problem).toBe(problem)
      }
      let size = 0
      second.behave((response) => refuse(response, 409, `${size++ % 2}\n`))
      const asked = second.requests.length
      await otherProcess().ask(recorded)
      expect(second.requests.length).toBe(asked + 3)
      expect(await otherProcess().cosigned(recorded)).toBe(await context().transparencyLog.checkpoint())
    })
  })
})
