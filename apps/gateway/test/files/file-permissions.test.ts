import { describe, expect, it } from 'vitest'
import { ed25519Identity, evmIdentity, expectRefusal, openLockerHouse } from '../auth/lockers.ts'
import { forAllTests } from '../for-tests.ts'
import { insertFiles, lockerRow, storeFile } from './files.ts'

const house = forAllTests(openLockerHouse)

const CALLS: [name: string, ops: string[], method: string, path: string, body?: unknown][] = [
  ['create', ['locker:write'], 'POST', '/files', { filename: 'new' }],
  ['batch create', ['locker:write'], 'POST', '/files/batch', { files: [{ filename: 'new' }] }],
  ['list', ['locker:list'], 'GET', '/files'],
  ['get', ['locker:read'], 'GET', '/files/a'],
  ['urls of some', ['locker:read'], 'POST', '/files/urls', { filenames: ['a'] }],
  ['urls of all', ['locker:read'], 'GET', '/urls'],
  ['manifest', ['locker:read'], 'GET', '/manifest'],
  ['delete', ['locker:write'], 'DELETE', '/files/a'],
]

describe.each([
  ['ed25519', ed25519Identity],
  ['secp256k1', evmIdentity],
])('a locker of an %s owner', (_, identity) => {
  const operator = ed25519Identity()
  const locker = forAllTests(() => house.locker(identity(), { operators: [operator] }))

  it.each(CALLS)('OPER-04 OPER-07 OPER-08 owner and operator may call: %s', async (_name, ops, method, path, body) => {
    for (const who of [locker.owner, operator]) {
      await storeFile(house, locker, 'a', 'hello')
      const reply = await locker.call(ops, method, path, body, who)
      expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    }
  })

  it.each(CALLS)('OPER-06 ENV-17 a stranger may not call: %s', async (_name, ops, method, path, body) => {
    await storeFile(house, locker, 'a', 'hello')
    const before = await lockerRow(house, locker)
    for (const stranger of [ed25519Identity(), evmIdentity()]) {
      expectRefusal(await locker.call(ops, method, path, body, stranger), 403, 'SIGNATURE_INVALID')
    }
    expect(await lockerRow(house, locker)).toEqual(before)
  })

  it.each(CALLS)('OPER-06 the owner of another locker may not call: %s', async (_name, ops, method, path, body) => {
    await storeFile(house, locker, 'a', 'hello')
    const other = await house.locker(ed25519Identity())
    const call = { method, path: `/v1/lockers/${locker.lockerId}${path}`, body, ops }
    const signed = { ...call, lockerId: other.lockerId, receiptId: other.receiptId }
    expectRefusal(await house.call(other.owner, signed), 401, 'LOCKER_ID_MISMATCH')
  })

  it.each(CALLS)(
    'ENV-18 ENV-19 AMB-03 a call without an envelope is refused: %s',
    async (_name, _ops, method, path, body) => {
      const reply = await house.send(method, `/v1/lockers/${locker.lockerId}${path}`, body)
      if (method === 'GET') expectRefusal(reply, 401, 'MISSING_ENVELOPE')
      else expectRefusal(reply, 422, 'validation_error')
    },
  )

  it.each(CALLS)('ENV-09 an envelope without the op is refused: %s', async (_name, ops, method, path, body) => {
    const others = ['locker:admin', 'locker:attest', 'locker:provision', 'locker:refresh']
    const near = ['locker:write', 'locker:read', 'locker:list'].filter((op) => !ops.includes(op))
    const allowed = path === '/urls' ? near.filter((op) => op === 'locker:write') : near
    expectRefusal(await locker.call([...others, ...allowed], method, path, body), 403, 'MISSING_OPS')
  })
})

it('an unknown locker answers 404 to all callers', async () => {
  const who = ed25519Identity()
  for (const [, ops, method, path, body] of CALLS) {
    const lockerId = 'locker_000000000000'
    const call = { method, path: `/v1/lockers/${lockerId}${path}`, body, ops, lockerId }
    expectRefusal(await house.call(who, call), 404, 'locker_not_found')
  }
})

describe('the limit of a signer', () => {
  const limited = forAllTests(() => openLockerHouse({ RATE_LIMIT_SIGNER: '1' }))
  const renames = { files: [{ filename: 'a', new_filename: 'b' }] }
  const sessions = { files: [{ filename: 'new' }] }

  it.each([
    ...CALLS.filter(([name]) => !['list', 'manifest', 'delete'].includes(name)),
    ['rename', ['locker:write'], 'POST', '/files/rename', renames] as const,
    ['open an upload session', ['locker:write'], 'POST', '/upload-sessions', sessions] as const,
  ])('LIM-11 a call counts once, however many URLs it mints, and is refused beyond it: %s', async (...call) => {
    const [, ops, method, path, body] = call
    const locker = await limited.locker(ed25519Identity())
    await storeFile(limited, locker, 'a', 'hello')
    await insertFiles(limited, locker, ['c', 'd'], (i) => ({ object_id: `${i}`.padStart(32, '0') }))
    expect((await locker.call([...ops], method, path, body)).status).toBe(200)
    const before = await lockerRow(limited, locker)
    const refused = await locker.call([...ops], method, path, body)
    expectRefusal(refused, 429, 'RATE_LIMITED')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await lockerRow(limited, locker)).toEqual(before)
  })
})
