import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFreshDatabase } from '@svc/devnet/databases'
import { type Behaviour, honestly, startFaultyNode } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import { startLocalChains } from '@svc/devnet/local-chains'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { lockerId } from '@svc/protocol/ids'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startGatewayProcess } from '../../../gateway-process.ts'
import { READ, SEND } from './faulty-testbed.ts'
import { FAMILIES, type Family, PRICE, pay, responseIn, signFor, treasuryUsdc, walletOn } from './x402-testbed.ts'

const chains = forAllTests(() => startLocalChains())

/** A behaviour that never answers this method. */
function silentOn(method: string): Behaviour {
  return (asked) => (asked.method === method ? null : honestly(asked))
}

/** Starts a gateway whose node never answers one method. Another gateway takes over its database. */
async function startGatewayToKill(family: Family, silent: string) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-x402-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const node = await startFaultyNode(chains[family].url, silentOn(silent))
  onTestFinished(node.stop)
  const database = `sqlite:${join(folder, 'gateway.db')}`
  const nodes = { ...chains.variables, [family === 'evm' ? 'EVM_RPC_URLS' : 'PRIMARY_RPC_URLS']: node.url }
  const gateway = await startGatewayProcess({ ...nodes, DATA_DIR: folder, DATABASE_URL: database })
  // On a busy machine the first checks may time out; the gateway sells once later ones succeed.
  const order = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"units":1}' }
  await expect.poll(async () => (await fetch(`${gateway.url}/v1/x402/storage`, order)).status).toBe(402)
  return { ...gateway, node, database }
}

describe.each(FAMILIES)('kill -9 on the %s chain', (family) => {
  it.each([
    ['between sending the payment and writing the receipt', READ[family], PRICE],
    ['between recording the payment and sending it', SEND[family], 0n],
  ])(
    'after kill -9 %s, another gateway finds or sends the payment once',
    { tags: ['nightly'] },
    async (_name, silent, paidBefore) => {
      const before = await treasuryUsdc(family, chains)
      const killed = await startGatewayToKill(family, silent)
      const { text } = await signFor(await walletOn(family, chains), killed.url)
      const unanswered = expect(pay(killed.url, text)).rejects.toThrow('fetch failed')
      await expect.poll(() => killed.node.calls).toContain(silent)
      await killed.kill()
      await unanswered
      expect((await treasuryUsdc(family, chains)) - before).toBe(paidBefore)

      const successor = await startTestGateway({ ...chains.variables, DATABASE_URL: killed.database })
      onTestFinished(successor.stop)
      const [first, second] = await Promise.all([pay(successor.url, text), pay(successor.url, text)])
      expect(first.status, JSON.stringify(first.body)).toBe(200)
      expect(second.body.receipt).toEqual(first.body.receipt)
      expect([first.body.locker_id, second.body.locker_id]).toEqual(Array(2).fill(lockerId(first.body.receipt_id)))
      expect(responseIn(first.headers)).toMatchObject({ success: true, transaction: first.body.receipt.tx_hash })
      expect((await treasuryUsdc(family, chains)) - before).toBe(PRICE)
    },
  )
})

describe.each(FAMILIES)('two gateways with one database and the same keys, on the %s chain', (family) => {
  const database = forAllTests(() => createFreshDatabase('postgres'))
  const open = () =>
    startTestGateway({ ...chains.variables, DATABASE_URL: database.url, CHAIN_WAIT_SECONDS: 'x402=300' })
  const gateways = [forAllTests(open), forAllTests(open)]

  it('T-01 two gateways that get many concurrent copies of a signature send one payment and write one receipt', {
    tags: ['nightly'],
  }, async () => {
    const { text } = await signFor(await walletOn(family, chains), gateways[0]!.url)
    const before = await treasuryUsdc(family, chains)
    const replies = await Promise.all(Array.from({ length: 10 }, (_, turn) => pay(gateways[turn % 2]!.url, text)))
    expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(new Set(replies.map(({ body }) => body.receipt_id)).size).toBe(1)
    expect(replies.filter(({ body }) => !body.idempotent)).toHaveLength(1)
    expect((await treasuryUsdc(family, chains)) - before).toBe(PRICE)
  })
})
