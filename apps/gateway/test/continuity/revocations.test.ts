import type { SigningKeys } from '@svc/api/info'
import type { LockerRecord } from '@svc/api/lockers'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, type TestLocker } from '@svc/devnet/services/test-gateway'
import { fromHex, toHex } from '@svc/protocol/bytes'
import { issuerKeyId } from '@svc/protocol/ids'
import { ed25519Signer } from '@svc/protocol/keys'
import { expect, it } from 'vitest'
import { announceKey } from '../../src/views/admin/keys/announce-key.ts'
import { retireKey } from '../../src/views/admin/keys/retire-key.ts'
import { revokeKey as revokeSigningKey } from '../../src/views/admin/keys/revoke-key.ts'
import { examineDatabase } from '../../src/views/admin/replay/replay.ts'
import { endShare, share, sharesOf } from '../adapters/http/shares/shares.ts'
import {
  askKey,
  askWalletKey,
  expectSuccess,
  findScope,
  listKeys,
  listWalletKeys,
  revokeKey,
  revokeWalletKey,
} from '../adapters/s3/credentials/credentials-gateway.ts'
import { runCommand } from '../gateway-process.ts'
import { healthIn } from './health.ts'
import { openRestorable } from './restorable.ts'

const ACTOR = { identity: 'a test' }
const OLD_SEED = '61'.repeat(32)
const NEXT_SEED = '62'.repeat(32)
const [OLD_KEY, NEXT_KEY, WITHDRAWN_KEY] = [OLD_SEED, NEXT_SEED, '63'.repeat(32)].map((seed) =>
  toHex(ed25519Signer(fromHex(seed)!).publicKey),
)

forEachDatabase('a restored database that forgot revocations', (database) => {
  const [owner, operator] = [ed25519Identity(), ed25519Identity()]
  const gateway = forAllTests(() =>
    openRestorable(database, { STATEMENT_KEY: OLD_SEED, STATEMENT_KEY_NEXT: NEXT_SEED }),
  )
  const operations = () => gateway.instance().gateway.context
  const command = (...args: string[]) => runCommand(args, { SVC_MODE: 'development', ...gateway.variables })
  const urlOf = (path: string) => new URL(path, gateway.instance().gateway.url)

  async function newLocker(operators = [operator]): Promise<TestLocker> {
    const locker = await gateway.locker(owner, operators)
    await locker.put('a.txt', 'text')
    return locker
  }

  const admin = (locker: TestLocker, method: string, path: string, body?: unknown) =>
    locker.call<LockerRecord>(['locker:admin'], method, path, body)
  const restrict = (locker: TestLocker, restriction: string) =>
    gateway.instance().send('PUT', `/v1/internal/operations/lockers/${locker.lockerId}/restriction`, {
      restriction,
      reason: 'order 17',
      ...(restriction !== 'none' && { notice: 'by order' }),
    })
  const download = async (locker: TestLocker, who = owner) =>
    expectSuccess(await locker.call<{ download_url: string }>(['locker:read'], 'GET', '/files/a.txt', undefined, who))
      .download_url
  const opens = async (path: string) => (await fetch(urlOf(urlOf(path).pathname))).status
  const recordOf = async (locker: TestLocker) =>
    expectSuccess(await locker.call<LockerRecord>(['locker:read'], 'GET', '/record'))

  /** After the backup, access is revoked in every way. */
  const made = forAllTests(async () => {
    const [shared, revoked, linked, rotated, frozen, thawed, given] = [
      await newLocker(),
      await newLocker(),
      await newLocker([]),
      await newLocker([]),
      await newLocker([]),
      await newLocker([]),
      await newLocker([]),
    ]
    const key = expectSuccess(await askKey(shared))
    const walletKeys = [
      await askWalletKey(gateway.instance(), owner),
      await askWalletKey(gateway.instance(), owner),
    ].map(expectSuccess)
    const [byOperator, byOwner] = [await download(shared, operator), await download(revoked)]
    const shares = {
      ended: await share(shared, 'a.txt'),
      kept: await share(shared, 'a.txt'),
      ofOperator: await share(shared, 'a.txt', {}, operator),
      revoked: await share(revoked, 'a.txt'),
    }
    const announced = { publicKeyHex: NEXT_KEY!, start: Math.floor(gateway.clock.now() / 1000), reason: 'a test' }
    await announceKey(operations(), ACTOR, { ...announced, publicKeyHex: WITHDRAWN_KEY! })
    await gateway.exchange('live')

    await retireKey(operations(), ACTOR, issuerKeyId(WITHDRAWN_KEY!), 'a wrong key')
    await announceKey(operations(), ACTOR, announced)

    expectSuccess(await admin(shared, 'DELETE', `/operators/${operator.identity}`))
    expectSuccess(await revokeKey(shared, key.access_key_id))
    expectSuccess(await endShare(shared, shares.ended.id))
    const newShare = await share(given, 'a.txt')
    const shortLived = await share(given, 'a.txt')
    expectSuccess(await endShare(given, shortLived.id))
    expectSuccess(await revokeWalletKey(gateway.instance(), owner, walletKeys[0]!.access_key_id))
    expectSuccess(await admin(revoked, 'POST', '/revoke', {}))
    expectSuccess(await admin(linked, 'POST', '/public-link', { action: 'close' }))
    expectSuccess(await admin(rotated, 'POST', '/public-link', { action: 'rotate' }))
    const rotatedLink = (await recordOf(rotated)).public_link
    expectSuccess(await admin(given, 'POST', '/operators', { pubkey: operator.identity }))
    const newKey = expectSuccess(await askKey(given))
    const newWalletKey = expectSuccess(await askWalletKey(gateway.instance(), owner))
    expectSuccess(await restrict(frozen, 'taken_down'))
    expectSuccess(await restrict(thawed, 'frozen'))
    gateway.clock.advance(1)
    expectSuccess(await restrict(thawed, 'none'))
    const rotation = await command('keys', 'rotate', '--early', '--reason', 'a test')
    expect(rotation.code, rotation.stderr).toBe(0)
    const theft = { keyId: issuerKeyId(OLD_KEY!), since: announced.start, reason: 'stolen', recovery: null }
    await revokeSigningKey(operations(), ACTOR, theft)
    const published = await (await fetch(urlOf('/v1/keys'))).json()
    return {
      shared,
      revoked,
      linked,
      rotated,
      rotatedLink,
      frozen,
      thawed,
      given,
      newKey,
      shares: { ...shares, made: newShare, shortLived },
      walletKeys: [walletKeys[1]!, newWalletKey],
      byOperator,
      byOwner,
      published,
    }
  })

  it.each([
    ['replay', []],
    ['accepting what cannot be replayed', ['--accept']],
  ])('T-161 ADD-29 is behind until it is healed by %s, and revoked access never works again', async (_, options) => {
    const { shared, revoked, linked, rotated, rotatedLink, frozen, thawed, given, newKey } = made
    const { shares, walletKeys, byOperator, byOwner, published } = made
    await gateway.exchange('backup')
    const behind = await healthIn(gateway.instance().gateway, 'behind')
    expect(behind.continuity).toMatchObject({ missing_revocations: 20, missing_statements: 0, missing_payments: 0 })
    expect(JSON.stringify(behind)).not.toContain(shared.lockerId)
    expectRefusal(await admin(shared, 'POST', '/revoke', {}), 503, 'database_behind')
    const refused = await command('lockers', 'freeze', shared.lockerId, '--reason', 'a test')
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('the database is older')])
    expect(await opens(byOperator)).toBe(200)
    expect(await opens(`/v1/shares/${shares.made.id}/f/a.txt`)).toBe(404)

    const replayed = await command('replay', '--reason', 'a backup was restored', ...options)
    expect(replayed.code, replayed.stdout + replayed.stderr).toBe(0)
    await healthIn(gateway.instance().gateway, 'current')
    expect((await examineDatabase(operations())).missing.counts).toEqual({})

    expectRefusal(await shared.call(['locker:list'], 'GET', '/files', undefined, operator), 403, 'SIGNATURE_INVALID')
    expect((await recordOf(shared)).operators).toEqual([])
    expect(await listKeys(shared)).toEqual([])
    expect([await opens(byOperator), await opens(byOwner)]).toEqual([403, 403])
    const { kept, made: newShare, ...ended } = shares
    for (const { id } of [kept, newShare]) expect(await opens(`/v1/shares/${id}/f/a.txt`)).toBe(200)
    for (const { id } of Object.values(ended)) expect(await opens(`/v1/shares/${id}/f/a.txt`)).toBe(404)
    expect((await sharesOf(given)).map(({ id }) => id)).toEqual([newShare.id])
    expect(await opens(await download(revoked))).toBe(200)
    for (const locker of [linked, rotated]) expect(await opens(`/v1/r/${locker.receiptId}/f/a.txt`)).toBe(404)
    expect((await recordOf(linked)).public_link).toMatchObject({ status: 'closed' })
    expect((await recordOf(rotated)).public_link).toEqual(rotatedLink)
    expect((await recordOf(given)).operators).toEqual([operator.identity])
    expect(await listKeys(given)).toMatchObject([{ access_key_id: newKey.access_key_id }])
    const keysOfWallet = (await listWalletKeys(gateway.instance(), owner)).map(({ access_key_id }) => access_key_id)
    expect(keysOfWallet.sort()).toEqual(walletKeys.map(({ access_key_id }) => access_key_id).sort())
    const opened = await findScope(gateway.instance(), walletKeys[1]!)
    expect(opened).toMatchObject({ wallet: owner.identity, epochs: { [revoked.lockerId]: 1 } })
    expect((await recordOf(frozen)).restriction).toMatchObject({ state: 'taken_down', notice: 'by order' })
    expect((await recordOf(thawed)).restriction ?? null).toBeNull()
    const keys = (await (await fetch(urlOf('/v1/keys'))).json()) as SigningKeys
    expect(keys).toEqual(published)
    expect(keys.next).toBeUndefined()
    expect(keys.keys.find(({ public_key_hex }) => public_key_hex === OLD_KEY)?.revoked_since).toBeDefined()
  })
})
