import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SigningKeys } from '@svc/api/info'
import { createFreshDatabase, type FreshDatabase } from '@svc/devnet/databases'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { seedFiles, seedLocker } from '@svc/devnet/services/seed-lockers'
import { seedStatement } from '@svc/devnet/services/seed-statements'
import { fromHex, toHex } from '@svc/protocol/bytes'
import { issuerKeyId } from '@svc/protocol/ids'
import { ed25519Signer } from '@svc/protocol/keys'
import { readPinnedKeys } from '@svc/verifier/pinned-keys'
import { type Given, verifyBundle } from '@svc/verifier/verify-bundle'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Locker } from '../../src/db/schema.ts'
import type { AttestationRecord } from '../../src/evidence/record.ts'
import type { Gateway } from '../../src/gateway.ts'
import { revokeKey } from '../../src/views/admin/keys/revoke-key.ts'
import { runCommand } from '../gateway-process.ts'

const OLD_SEED = '51'.repeat(32)
const OLD_KEY = publicKeyOf(OLD_SEED)
const BASE_URL = 'http://gateway.test'

let folder: string
let database: FreshDatabase
let settings: Record<string, string>
let recoveryFile: string
let nextFile: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-keys-'))
  database = await createFreshDatabase('postgres')
  recoveryFile = join(folder, 'recovery.key')
  nextFile = join(folder, 'next.key')
  const made = await runCommand(['keys', 'new', '--recovery', '--out', recoveryFile])
  expect(made.stdout).toMatch(/^RECOVERY_PUBLIC_KEY=[0-9a-f]{64}\n$/)
  expect(made.stderr).toMatch(/^Next: set RECOVERY_PUBLIC_KEY .* all replicas/m)
  settings = {
    SVC_MODE: 'development',
    DATABASE_URL: database.url,
    BASE_URL,
    STATEMENT_KEY: OLD_SEED,
    RECOVERY_PUBLIC_KEY: made.stdout.trim().split('=')[1] as string,
  }
})
afterAll(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

const run = (...args: string[]) =>
  runCommand(['keys', ...args], { ...settings, DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'error' })
const done = async (...args: string[]) => {
  const { code, stdout, stderr } = await run(...args, '--reason', 'once a year')
  expect(code, stderr).toBe(0)
  return { ...JSON.parse(stdout), stderr }
}
const read = async <Body>(gateway: Gateway, path: string): Promise<Body> => (await fetch(gateway.url + path)).json()

describe('rotating the key of two replicas', { shuffle: false }, () => {
  let newKey: string
  let before: SigningKeys
  let first: Gateway
  let second: Gateway
  let lockers: Locker[]
  let locker: Locker
  beforeAll(async () => {
    const announced = await done('new', '--out', nextFile, '--start', new Date().toISOString())
    expect(((await stat(nextFile)).mode & 0o777).toString(8)).toBe('600')
    newKey = publicKeyOf((await readFile(nextFile, 'utf8')).trim())
    expect(announced).toMatchObject({ public_key_hex: newKey })
    expect(announced.stderr).toContain(`Next: set STATEMENT_KEY_NEXT_FILE=${nextFile} for all replicas`)
    expect(announced.stderr).toContain(`From ${announced.valid_from} on: svc-gateway keys rotate`)
    settings = { ...settings, STATEMENT_KEY_NEXT_FILE: nextFile }
    first = await startTestGateway(settings)
    second = await startTestGateway(settings)
    before = await read<SigningKeys>(first, '/v1/keys')
    expect(before).toMatchObject({ keys: [{ public_key_hex: OLD_KEY }, {}, {}], next: [{ public_key_hex: newKey }] })
    lockers = await Promise.all([1, 2, 3].map(() => newLocker(first)))
    locker = lockers[0]!
  })
  afterAll(async () => {
    await first.stop()
    await second.stop()
  })

  it('ADD-37 T-40 leaves each receipt one valid chain under load, each statement signed by the key of its time', async () => {
    const records: AttestationRecord[] = []
    let isOver = false
    const load = [first, second].map(async ({ context }) => {
      while (!isOver) {
        for (const of of lockers) records.push(await seedStatement(context, of, { databaseUrl: database.url }))
      }
    })
    // At least one replica has attested every locker by now.
    await expect.poll(() => records.length).toBeGreaterThanOrEqual(2 * lockers.length)
    const rotated = await done('rotate')
    expect(rotated).toMatchObject({ from: { public_key_hex: OLD_KEY }, to: { public_key_hex: newKey }, endorsed: true })
    expect(rotated.stderr).toContain('Next: at the next restart of each replica set STATEMENT_KEY')
    const known = records.length
    const afterRotation = () => records.slice(known).filter(({ record }) => record.envelope?.issuer_pubkey === newKey)
    await expect.poll(() => afterRotation().length).toBeGreaterThan(12)
    isOver = true
    await Promise.all(load)
    expect(new Set(records.map(({ record }) => record.envelope?.issuer_pubkey))).toEqual(new Set([OLD_KEY, newKey]))
    for (const { receipt_id } of lockers) {
      const rows = await first.context.database.db
        .selectFrom('statements')
        .select(['sequence', 'record'])
        .where('receipt_id', '=', receipt_id)
        .orderBy('sequence')
        .execute()
      expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, i) => i + 1))
      const keys = [await signerOf(second, receipt_id, 1), await signerOf(first, receipt_id, rows.length)]
      expect(keys).toEqual([OLD_KEY, newKey])
      const bodies = rows.map(({ record }) => JSON.parse(record).envelope)
      expect(bodies.slice(1).map(({ body }) => body.prev_statement_digest)).toEqual(
        bodies.slice(0, -1).map(({ statement_digest }) => statement_digest),
      )
    }
  })

  it('ADD-37 T-40 is followed offline from the pinned old key, and is not undone by a replica with outdated settings', async () => {
    const pinnedOld = pinsOf(OLD_KEY)
    const trail = `${issuerKeyId(OLD_KEY)} → ${issuerKeyId(newKey)}`
    expect(await keyPinned(second, locker, pinnedOld)).toEqual({ value: 'passed', why: expect.stringContaining(trail) })
    expect(await keyPinned(second, locker, { ...pinnedOld, audience: 'https://other.example' })).toMatchObject({
      value: 'failed',
      why: expect.stringContaining('another gateway'),
    })
    expect(await keyPinned(second, locker, pinnedOld, 'redacted-bundle')).toMatchObject({ value: 'passed' })
    expect(await keyPinned(first, locker, pinsOf(OLD_KEY), 'evidence-bundle', 1)).toEqual({ value: 'passed' })
    await expect(startTestGateway(outdatedSettings())).rejects.toThrow(`handed over to ${issuerKeyId(newKey)}`)
  })

  it('ADD-39 T-40 a verifier that pinned the key list survives a revocation, and one that pinned the stolen key alone does not', async () => {
    // The new key signs the old key's statements in other formats until the old key is revoked.
    const ofFirst = `/v1/storage/dsse?receipt_id=${locker.receipt_id}&sequence=1`
    expect(await read(first, ofFirst)).toMatchObject({ signatures: [{ keyid: issuerKeyId(newKey) }] })
    const since = new Date(Date.now() - 3_600_000).toISOString()
    const order = { keyId: issuerKeyId(newKey), since: 0, reason: 'a mistake', recovery: null }
    await expect(revokeKey(first.context, { identity: 'test' }, order)).rejects.toThrow('rotate to another key first')
    await done('revoke', issuerKeyId(OLD_KEY), '--since', since, '--recovery-key', recoveryFile)
    const [listed, again] = await Promise.all([run('list'), run('new', '--out', nextFile, '--reason', 'a mistake')])
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('already exists')])
    expect([listed.stderr, listed.stdout]).toEqual(['', expect.stringMatching(/^active .*\nrevoked .*\nrecovery /)])
    expect((await read<SigningKeys>(second, '/v1/keys')).revocations).toHaveLength(2)
    for (const replica of [first, second])
      expect(await read(replica, ofFirst)).toMatchObject({ error: 'attestation_not_available' })
    const pinnedList = pinsOf(JSON.stringify(before))
    expect(await keyPinned(first, locker, pinnedList)).toMatchObject({ value: 'passed' })
    const failed = (why: string) => ({ value: 'failed', why: expect.stringContaining(why) })
    expect(await keyPinned(first, locker, pinnedList, 'evidence-bundle', 1)).toMatchObject(failed('revoked as of'))
    expect(await keyPinned(first, locker, pinsOf(OLD_KEY))).toMatchObject(failed('is revoked'))
    expect(await keyPinned(first, locker, pinsOf(newKey))).toEqual({ value: 'passed' })
    await expect(startTestGateway(outdatedSettings())).rejects.toThrow('was revoked as of')
  })
})

/** The settings of a replica without the next key. */
function outdatedSettings() {
  const { STATEMENT_KEY_NEXT_FILE: _, ...rest } = settings
  return rest
}

async function newLocker({ context }: Gateway): Promise<Locker> {
  const locker = await seedLocker(context, { owner: 'FQnm7VnmFawD9Dtb4yCexQjERoZ9LkdzAYijzK5tzQEe' })
  await seedFiles(context, locker.locker_id, 2)
  return locker
}

/** The key that signed a statement, as the gateway reports it. */
async function signerOf(gateway: Gateway, receipt_id: string, sequence: number) {
  const path = `/v1/storage/verify?receipt_id=${receipt_id}&sequence=${sequence}`
  const { verification, attestation } = await read<{
    verification: { signature_valid: string }
    attestation: { envelope: { issuer_pubkey: string } }
  }>(gateway, path)
  expect(verification.signature_valid).toBe('passed')
  return attestation.envelope.issuer_pubkey
}

function pinsOf(pins: string): Given {
  const keys = readPinnedKeys(pins)
  if (!keys.ok) throw new Error(keys.problem)
  const { changes, recovery } = keys
  return { pinnedKeys: keys.keys, listed: { changes, recovery }, audience: BASE_URL }
}

async function keyPinned(
  gateway: Gateway,
  { receipt_id }: Locker,
  pins: Given,
  kind = 'evidence-bundle',
  sequence?: number,
) {
  const query = new URLSearchParams({ receipt_id, ...(sequence && { sequence: String(sequence) }) })
  const response = await fetch(`${gateway.url}/v1/storage/${kind}?${query}`)
  const verified = await verifyBundle([new Uint8Array(await response.arrayBuffer())], pins)
  if (verified.refused) throw new Error(verified.refused.why)
  expect(verified.facts.signature_valid).toEqual({ value: 'passed' })
  return verified.facts.key_pinned
}

function publicKeyOf(seed: string): string {
  return toHex(ed25519Signer(fromHex(seed, 32) as Uint8Array).publicKey)
}
