import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Behaviour, type FaultyNode, honestly, startFaultyNode } from '@svc/devnet/faulty-node'
import { freePort } from '@svc/devnet/free-port'
import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import { startTestGateway } from '@svc/testbed/gateway'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { READ, SEND } from './faulty-gateway.ts'
import { FAMILIES, type Family, PRICE, responseIn, show, signFor, treasuryUsdc, walletOn } from './x402-gateway.ts'

let chains: LocalChains
beforeAll(async () => {
  chains = await startLocalChains({ finalAtOnce: true })
})
afterAll(() => chains.stop())

/** Never answers one method; everything else is the truth. */
function silentOn(method: string): Behaviour {
  return (asked) => (asked.method === method ? null : honestly(asked))
}

interface Victim {
  url: string
  process: ChildProcess
  node: FaultyNode
  /** Of the gateway that takes over. */
  database: string
  remove(): Promise<void>
}

/** A gateway as operators run it, whose node falls silent at one method. */
async function startVictim(family: Family, silent: string): Promise<Victim> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-x402-'))
  const node = await startFaultyNode(chains[family].url, silentOn(silent))
  const port = await freePort()
  const database = `sqlite:${join(folder, 'gateway.db')}`
  const env = {
    NODE_COMPILE_CACHE: globalThis.process.env.NODE_COMPILE_CACHE,
    ...chains.variables,
    [family === 'evm' ? 'EVM_RPC_URLS' : 'PRIMARY_RPC_URLS']: node.url,
    SVC_MODE: 'development',
    HOST: '127.0.0.1',
    PORT: String(port),
    DATA_DIR: folder,
    DATABASE_URL: database,
    LOG_LEVEL: 'silent',
  }
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
  const process = spawn(globalThis.process.execPath, [main], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const url = `http://127.0.0.1:${port}`
  await expect.poll(async () => (await fetch(`${url}/v1/keys`)).status).toBe(200)
  const remove = async () => {
    await node.stop()
    await rm(folder, { recursive: true })
  }
  return { url, process, node, database, remove }
}

describe.each(FAMILIES)('kill -9 on the %s chain', (family) => {
  it.each([
    ['after the payment was sent, before its receipt', READ[family], PRICE],
    ['before the payment was sent, after it was noted', SEND[family], 0n],
  ])('%s: another gateway finds or sends it, once', async (_name, silent, paidBefore) => {
    const before = await treasuryUsdc(family, chains)
    const victim = await startVictim(family, silent)
    const { text } = await signFor(await walletOn(family, chains), victim.url)
    const unanswered = expect(show(victim.url, text)).rejects.toThrow('fetch failed')
    await expect.poll(() => victim.node.calls).toContain(silent)
    victim.process.kill('SIGKILL')
    await once(victim.process, 'exit')
    await unanswered
    expect((await treasuryUsdc(family, chains)) - before).toBe(paidBefore)

    const heir = await startTestGateway({ ...chains.variables, DATABASE_URL: victim.database })
    const [first, second] = await Promise.all([show(heir.url, text), show(heir.url, text)])
    expect(first.status, JSON.stringify(first.body)).toBe(200)
    expect(second.body.receipt).toEqual(first.body.receipt)
    expect(responseIn(first.headers)).toMatchObject({ success: true, transaction: first.body.receipt.tx_hash })
    expect((await treasuryUsdc(family, chains)) - before).toBe(PRICE)
    await heir.stop()
    await victim.remove()
  })
})
