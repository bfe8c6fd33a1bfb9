import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ed25519Identity, openTestGateway, type TestGateway, type TestLocker } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand } from '../gateway-process.ts'

let folder: string
let instance: TestGateway
let locker: TestLocker
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-operate-'))
  instance = await openTestGateway({ DATA_DIR: folder })
  locker = await instance.locker(ed25519Identity())
})
afterAll(async () => {
  await instance.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (...args: string[]) => runCommand(args, { SVC_MODE: 'development', DATA_DIR: folder })

it('ADD-25 T-26 the command line manages lockers, jobs, payments and the audit trail while the gateway runs', {
  tags: ['nightly'],
}, async () => {
  const { queue, database } = instance.gateway.context
  const receipt_id = `rcpt_${'0'.repeat(32)}`
  await writable(database.db)
    .transaction()
    .execute((tx) => queue.enqueue(tx, 'attest', { receipt_id }))
  await queue.drain()
  const [dead] = await queue.deadLetters()

  const listed = await run('jobs', 'list')
  expect(listed).toMatchObject({ code: 0, stderr: '' })
  expect(listed.stdout).toContain(`${dead!.id}  attest  1 runs`)
  const unexplained = await run('jobs', 'retry', dead!.id)
  expect([unexplained.code, unexplained.stderr]).toEqual([1, expect.stringContaining('--reason')])
  const retried = await run('jobs', 'retry', dead!.id, '--reason', 'the node was down')
  expect(JSON.parse(retried.stdout)).toMatchObject({ changed: true })

  const frozen = await run('lockers', 'freeze', locker.lockerId, '--reason', 'complaint 4711')
  expect(JSON.parse(frozen.stdout)).toMatchObject({ changed: true, locker: { restriction: { state: 'frozen' } } })
  expect((await locker.call(['locker:write'], 'POST', '/files', { filename: 'a' })).status).toBe(423)

  const payment = { network: 'evm-mainnet', tx: `0x${'7b'.repeat(32)}`, asset: 'USDC', pay_req_id: 'pr_1' }
  const of = { payer: `0x${'5a'.repeat(20)}`, received: '250000', noted_at: '2026-09-01T12:00:00Z' }
  await writable(database.db)
    .insertInto('unclaimed_payments')
    .values({ ...payment, ...of, reason: 'quote_already_paid' })
    .execute()
  const toReturn = await run('payments', 'list')
  expect(toReturn).toMatchObject({ code: 0, stderr: '' })
  expect(toReturn.stdout).toContain(`${payment.tx}  250000 USDC  ${of.payer}  pr_1  quote_already_paid  open`)
  const incomplete = await run('payments', 'refund', payment.network, payment.tx, '--reason', 'paid twice')
  expect([incomplete.code, incomplete.stderr]).toEqual([1, expect.stringContaining('--asset')])

  const audit = await run('audit')
  const entries = audit.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(entries).toMatchObject([
    { action: 'freeze_locker', target: locker.lockerId, actor: expect.stringMatching(/^command line:./) },
    { action: 'retry_job', reason: 'the node was down' },
  ])
  const [, head] = /Head: (2:[0-9a-f]{64})/.exec(audit.stderr) ?? []
  expect((await run('audit', '--head', head!)).code).toBe(0)
  expect((await run('audit', '--head', `3:${head!.slice(2)}`)).code).toBe(1)
})
