// Attests over HTTP as the owner of a locker, and reads the stored statements.

import { join } from 'node:path'
import type { AttestAnswer, Attestation, AttestQueued } from '@svc/api/attestations'
import type { Identity, Reply, TestGateway, TestLocker } from '@svc/devnet/services/test-gateway'
import { expect } from 'vitest'
import type { StatementTable } from '../../src/db/schema.ts'
import { type WatchedStorage, watchedStorage } from '../files/confirm/confirm.ts'

export function askToAttest<Body = AttestAnswer>(
  instance: TestGateway,
  { owner, receiptId }: Pick<TestLocker, 'owner' | 'receiptId'>,
  { sync = true, who = owner }: { sync?: boolean; who?: Identity } = {},
): Promise<Reply<Body>> {
  const path = `/v1/storage/attest?receipt_id=${receiptId}${sync ? '&sync=true' : ''}`
  return instance.call<Body>(who, { method: 'POST', path, ops: ['locker:attest'], receiptId })
}

export async function attest(instance: TestGateway, locker: TestLocker): Promise<AttestAnswer> {
  const { status, body } = await askToAttest(instance, locker)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

export async function queueToAttest(instance: TestGateway, locker: TestLocker): Promise<AttestQueued> {
  const { status, body } = await askToAttest<AttestQueued>(instance, locker, { sync: false })
  expect(status, JSON.stringify(body)).toBe(202)
  return body
}

/** Every statement of a receipt, oldest first. */
export async function statementsOf(
  { gateway }: TestGateway,
  { receiptId }: Pick<TestLocker, 'receiptId'>,
): Promise<StatementTable[]> {
  const { db } = gateway.context.database
  return db.selectFrom('statements').selectAll().where('receipt_id', '=', receiptId).orderBy('sequence').execute()
}

/** Expects statements 1..n of one proof without a gap, each with its predecessor's digest and a nonce of its own. */
export async function expectChain(instance: TestGateway, locker: TestLocker): Promise<Attestation[]> {
  const records = (await statementsOf(instance, locker)).map(({ record }) => JSON.parse(record) as Attestation)
  const bodies = records.map(({ envelope }) => envelope!.body)
  expect(bodies.map(({ sequence }) => sequence)).toEqual(bodies.map((_, i) => i + 1))
  const digests = records.map(({ envelope }) => envelope!.statement_digest)
  expect(bodies.map(({ prev_statement_digest }) => prev_statement_digest)).toEqual([null, ...digests].slice(0, -1))
  expect(new Set(bodies.map(({ proof_id }) => proof_id)).size).toBe(records.length > 0 ? 1 : 0)
  expect(new Set(bodies.map(({ nonce }) => nonce)).size).toBe(records.length)
  return records
}

export async function statusOf({ gateway }: TestGateway, { receiptId }: TestLocker) {
  const { db } = gateway.context.database
  const row = db.selectFrom('attestations').selectAll().where('receipt_id', '=', receiptId)
  return (await row.executeTakeFirst()) ?? null
}

/** The path where the local driver stores a file's bytes, for tests that damage them. */
export async function objectPath({ gateway }: TestGateway, { lockerId }: TestLocker, filename: string) {
  const { config, database } = gateway.context
  const { object_id } = await database.db
    .selectFrom('files')
    .select('object_id')
    .where('locker_id', '=', lockerId)
    .where('filename', '=', filename)
    .executeTakeFirstOrThrow()
  return join(config.storage.localFolder, 'objects', object_id!.slice(0, 2), object_id!)
}

/** Storage whose `absent` calls can be blocked, which stops a run between reading and writing. */
export interface BlockableStorage extends WatchedStorage {
  /** The number of `absent` calls so far. */
  absentCalls(): number
  /** Blocks the next `absent` call that is not blocked yet. */
  hold(): { began: Promise<void>; release(): void }
}

export async function blockableStorage(shared?: string): Promise<BlockableStorage> {
  const storage = await watchedStorage(shared)
  const local = storage.providers.named('gcs')
  const waiting: (() => Promise<void>)[] = []
  let absentCalls = 0
  const absent: typeof local.absent = async (keys) => {
    absentCalls++
    await waiting.shift()?.()
    return local.absent(keys)
  }
  return {
    ...storage,
    providers: { ...storage.providers, named: () => ({ ...local, absent }) },
    absentCalls: () => absentCalls,
    hold() {
      const began = Promise.withResolvers<void>()
      const held = Promise.withResolvers<void>()
      waiting.push(() => {
        began.resolve()
        return held.promise
      })
      return { began: began.promise, release: held.resolve }
    },
  }
}
