import { forAllTests } from '@svc/devnet/for-tests'
import {
  ed25519Identity,
  evmIdentity,
  expectRefusal,
  type Identity,
  openTestGateway,
} from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { insertFiles, lockerRow, storeFile } from './files.ts'

const instance = forAllTests(openTestGateway)

type Call = [name: string, ops: string[], method: string, path: string, body?: unknown]
const CALLS: Call[] = [
  ['create', ['locker:write'], 'POST', '/files', { filename: 'new' }],
  ['batch create', ['locker:write'], 'POST', '/files/batch', { files: [{ filename: 'new' }] }],
  ['list', ['locker:list'], 'GET', '/files'],
  ['get', ['locker:read'], 'GET', '/files/a'],
  ['urls of some', ['locker:read'], 'POST', '/files/urls', { filenames: ['a'] }],
  ['urls of all', ['locker:read'], 'GET', '/urls'],
  ['manifest', ['locker:read'], 'GET', '/manifest'],
  ['delete', ['locker:write'], 'DELETE', '/files/a'],
  [
    'rename',
    ['locker:write'],
    'POST',
    '/files/rename',
    { files: [{ filename: 'a', new_filename: 'b' }], overwrite: true },
  ],
  ['open an upload session', ['locker:write'], 'POST', '/upload-sessions', { files: [{ filename: 'new' }] }],
]

const operator = ed25519Identity()
const owners = { Ed25519: ed25519Identity(), EVM: evmIdentity() }
const lockerOf = async (owner: Identity) => {
  const locker = await instance.locker(owner, { operators: [operator] })
  await storeFile(instance, locker, 'a', 'hello')
  return locker
}

it.each(CALLS)('OPER-07 OPER-08 an owner on either chain and an operator may call: %s', async (_, ...call) => {
  const [ops, method, path, body] = call
  for (const owner of Object.values(owners)) {
    const locker = await lockerOf(owner)
    for (const who of [owner, operator]) {
      await storeFile(instance, locker, 'a', 'hello')
      const reply = await locker.call(ops, method, path, body, who)
      expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    }
  }
})

it.each(CALLS)('OPER-06 ENV-18 no other signer may call: %s', async (_, ...call) => {
  const [ops, method, path, body] = call
  const [locker, other] = [await lockerOf(owners.Ed25519), await instance.locker(ed25519Identity())]
  const before = await lockerRow(instance, locker)
  for (const unregistered of [ed25519Identity(), evmIdentity()])
    expectRefusal(await locker.call(ops, method, path, body, unregistered), 403, 'SIGNATURE_INVALID')
  const target = { method, path: `/v1/lockers/${locker.lockerId}${path}`, body, ops }
  const signedForOther = { ...target, lockerId: other.lockerId, receiptId: other.receiptId }
  expectRefusal(await instance.call(other.owner, signedForOther), 401, 'LOCKER_ID_MISMATCH')
  const unsigned = await instance.send(method, target.path, body)
  if (method === 'GET') expectRefusal(unsigned, 401, 'MISSING_ENVELOPE')
  else expectRefusal(unsigned, 422, 'validation_error')
  const near = ['locker:write', 'locker:read', 'locker:list'].filter((op) => !ops.includes(op))
  const others = path === '/urls' ? ['locker:write'] : near
  const far = ['locker:admin', 'locker:attest', 'locker:provision', 'locker:refresh']
  expectRefusal(await locker.call([...far, ...others], method, path, body), 403, 'MISSING_OPS')
  expect(await lockerRow(instance, locker)).toEqual(before)
})

it.each(CALLS)('an unknown locker answers 404 to all callers: %s', async (_, ops, method, path, body) => {
  const lockerId = 'locker_000000000000'
  const call = { method, path: `/v1/lockers/${lockerId}${path}`, body, ops, lockerId }
  expectRefusal(await instance.call(ed25519Identity(), call), 404, 'locker_not_found')
})

const limited = forAllTests(() => openTestGateway({ RATE_LIMITS: 'signer=1/min' }))
const LIMITED = CALLS.filter(([name]) => !['list', 'manifest', 'delete'].includes(name))

it.each(LIMITED)(
  'LIM-11 a call counts once for any number of URLs, and is refused past the limit: %s',
  async (_, ...call) => {
    const [ops, method, path, body] = call
    const locker = await limited.locker(ed25519Identity())
    await storeFile(limited, locker, 'a', 'hello')
    await insertFiles(limited, locker, ['c', 'd'], (i) => ({ object_id: `${i}`.padStart(32, '0') }))
    expect((await locker.call(ops, method, path, body)).status).toBe(200)
    const before = await lockerRow(limited, locker)
    const refused = await locker.call(ops, method, path, body)
    expectRefusal(refused, 429, 'RATE_LIMITED')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await lockerRow(limited, locker)).toEqual(before)
  },
)
