import { type AccessEntry, type AccessList, listAccess } from '@svc/api/access'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { schemaCheck } from '@svc/service/http/validate'
import { expect, it } from 'vitest'
import { openTestSession } from '../../adapters/http/sessions/sessions.ts'
import { share } from '../../adapters/http/shares/shares.ts'
import { askKey, askWalletKey, expectSuccess } from '../../adapters/s3/credentials/credentials-gateway.ts'

const operator = ed25519Identity()
const instance = forAllTests(openTestGateway)
const locker = forEachTest(async () => {
  const made = await instance.locker(ed25519Identity(), { operators: [operator] })
  await made.put('photos/a.txt', 'one')
  return made
})

async function access(): Promise<AccessList> {
  const list = expectSuccess(await locker.call<AccessList>(['locker:admin'], 'GET', '/access'))
  expect(schemaCheck(listAccess.responses[200])(list)).toBeNull()
  expect(list.count).toBe(list.access.length)
  return list
}

const ofKind = async (kind: AccessEntry['kind']) => (await access()).access.filter((entry) => entry.kind === kind)

/** Sends the request that ends an entry, as the owner. */
async function end({ end }: Pick<AccessEntry, 'end'>): Promise<void> {
  const { method, path, body = method === 'POST' ? {} : undefined } = end!
  const { lockerId, receiptId, owner } = locker
  const isOfWallet = path.startsWith('/v1/s3/')
  const about = isOfWallet
    ? { envelope: { aud: instance.gateway.context.config.http.baseUrl } }
    : { lockerId, receiptId }
  const ops = ['locker:admin', 'locker:read']
  expectSuccess(await instance.call(owner, { method, path, body, ops, ...about }))
}

it('ADD-62 the list of access contains everything that opens a new locker: its public link and its operators', async () => {
  const { lockerId, receiptId } = locker
  const base = `/v1/lockers/${lockerId}`
  const unknown = { label: null, created_at: null, created_by: null, expires_at: null, last_used_at: null, path: null }
  expect(await access()).toEqual({
    locker_id: lockerId,
    count: 2,
    access: [
      {
        ...unknown,
        kind: 'public_link',
        id: receiptId,
        status: 'open',
        permissions: ['read'],
        end: { method: 'POST', path: `${base}/public-link`, body: { action: 'close' } },
      },
      {
        ...unknown,
        kind: 'operator',
        id: operator.identity,
        status: 'open',
        permissions: ['read', 'write', 'list'],
        end: { method: 'DELETE', path: `${base}/operators/${operator.identity}` },
      },
    ],
    end_all: { method: 'POST', path: `${base}/revoke` },
  })
})

it('ADD-62 the list of access contains shares, S3 keys of the locker and of the wallet, and open sessions, each with its facts', async () => {
  const shared = await share(locker, 'photos/', { label: 'for Ada' }, operator)
  const key = expectSuccess(await askKey(locker, { prefix: 'photos/', access: 'read' }))
  const walletKey = expectSuccess(await askWalletKey(instance, locker.owner))
  const { opened } = await openTestSession(instance, locker, { files: [{ filename: 'b.txt' }] }, operator)
  const { access: entries } = await access()
  const found = Object.groupBy(entries, ({ kind }) => kind)
  const { id, path, label, created_at, created_by, expires_at } = shared
  expect(found.share).toMatchObject([
    { id, path, label, created_at, created_by, expires_at, permissions: ['read'], last_used_at: null },
  ])
  expect(found.s3_key).toMatchObject([
    { id: key.access_key_id, label: 'backup', path: 'photos/', permissions: ['read', 'list'] },
    {
      id: walletKey.access_key_id,
      path: null,
      permissions: ['read', 'write', 'list'],
      created_by: locker.owner.identity,
    },
  ])
  expect(found.upload_session).toMatchObject([
    { id: opened.session_id, permissions: ['write'], created_by: operator.identity, expires_at: opened.expires_at },
  ])
  const text = JSON.stringify(entries)
  for (const secret of [opened.upload_token, key.secret_access_key]) expect(text).not.toContain(secret)
})

it.each(['public_link', 'operator', 'share', 's3_key', 'upload_session'] as const)(
  'ADD-62 the request of an entry of the kind %s ends it',
  async (kind) => {
    await share(locker, 'photos/')
    expectSuccess(await askKey(locker))
    expectSuccess(await askWalletKey(instance, locker.owner))
    await openTestSession(instance, locker, { files: [{ filename: 'b.txt' }] })
    const entries = await ofKind(kind)
    expect(entries.length).toBeGreaterThan(0)
    for (const entry of entries) await end(entry)
    const left = await ofKind(kind)
    const closed = { id: null, status: 'closed', permissions: [], end: null }
    expect(left).toEqual(kind === 'public_link' ? [expect.objectContaining(closed)] : [])
  },
)

it('T-36 ADD-62 entries that ended with their operator, by revocation or by time are not listed', async () => {
  await share(locker, 'photos/', {}, operator)
  await share(locker, 'photos/', { expires_in_hours: 1 })
  await openTestSession(instance, locker, { files: [{ filename: 'b.txt' }] }, operator)
  expectSuccess(await askKey(locker))
  expectSuccess(await askWalletKey(instance, locker.owner))
  expectSuccess(await locker.call(['locker:admin'], 'DELETE', `/operators/${operator.identity}`))
  expect((await access()).access.map(({ kind }) => kind)).toEqual(['public_link', 'share', 's3_key', 's3_key'])
  await end({ end: (await access()).end_all })
  expect((await access()).access.map(({ kind }) => kind)).toEqual(['public_link'])
  const short = await share(locker, 'photos/', { expires_in_hours: 1 })
  expect(await ofKind('share')).toMatchObject([{ id: short.id }])
  instance.clock.advance(3600)
  expect(await ofKind('share')).toEqual([])
})

it('T-28 ADD-62 only the owner sees the list', async () => {
  const asOperator = locker.call(['locker:admin'], 'GET', '/access', undefined, operator)
  expectRefusal(await asOperator, 403, 'OWNER_REQUIRED')
  expectRefusal(await locker.call(['locker:read'], 'GET', '/access'), 403, 'MISSING_OPS')
  expectRefusal(
    await locker.call(['locker:admin'], 'GET', '/access', undefined, ed25519Identity()),
    403,
    'SIGNATURE_INVALID',
  )
})
